// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/compat/filter_bits_slots.h"

#include <cstring>

#include "integration/rocksdb/compat/filter_bits_abi.h"

// Compiled once per generation, as if for a RocksDB of that generation, with a separate namespace
// for RocksDB's classes, so that one program can hold them all.

namespace blocksieve::testing {
namespace {

using ROCKSDB_NAMESPACE::FilterBitsBuilder;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using Buffer = std::unique_ptr<const char[]>;

/// By the Itanium C++ ABI, 2.3: the first word of a pointer to a virtual function is 1 plus the
/// offset in the virtual table; on Arm, where code has odd addresses, the offset alone.
template <class Class, class Result, class... Arguments>
size_t FindSlot(Result (Class::*function)(Arguments...)) {
  intptr_t words[2];
  static_assert(sizeof(function) == sizeof(words));
  std::memcpy(words, &function, sizeof(words));
#if defined(__arm__) || defined(__aarch64__)
  const intptr_t offset = words[0];
#else
  const intptr_t offset = words[0] - 1;
#endif
  return static_cast<size_t>(offset) / sizeof(void*);
}

}  // namespace

template <>
std::map<std::string, Slots> DeclaredSlots<BLOCKSIEVE_ABI_GENERATION>() {
  Slots builder = {
      {FindSlot(&FilterBitsBuilder::AddKey), "AddKey(key)"},
      {FindSlot(&FilterBitsBuilder::EstimateEntriesAdded), "EstimateEntriesAdded()"},
      {FindSlot<FilterBitsBuilder, Slice, Buffer*>(&FilterBitsBuilder::Finish), "Finish(buf)"},
      {FindSlot<FilterBitsBuilder, Slice, Buffer*, Status*>(&FilterBitsBuilder::Finish),
       "Finish(buf, status)"},
      {FindSlot(&FilterBitsBuilder::MaybePostVerify), "MaybePostVerify(filter_content)"},
      {FindSlot(&FilterBitsBuilder::ApproximateNumEntries), "ApproximateNumEntries(bytes)"},
      {FindSlot(&FilterBitsBuilder::CalculateSpace), "CalculateSpace(num_entries)"},
      {FindSlot(&FilterBitsBuilder::EstimatedFpRate), "EstimatedFpRate(num_entries, bytes)"},
  };
#if BLOCKSIEVE_ABI_GENERATION >= 2
  builder[FindSlot(&FilterBitsBuilder::AddKeyAndAlt)] = "AddKeyAndAlt(key, alt)";
#endif
  const Slots reader = {
      {FindSlot<FilterBitsReader, bool, const Slice&>(&FilterBitsReader::MayMatch),
       "MayMatch(entry)"},
      {FindSlot<FilterBitsReader, void, int, Slice**, bool*>(&FilterBitsReader::MayMatch),
       "MayMatch(num_keys, keys, may_match)"},
  };
  return {{"FilterBitsBuilder", builder}, {"FilterBitsReader", reader}};
}

}  // namespace blocksieve::testing
