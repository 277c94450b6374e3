// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_section.h"

#include <algorithm>

#include "lib/hash/hash_inline.h"

namespace blocksieve {
namespace internal {
namespace {

// The first field: hashes of a prefix, and a flag.
constexpr uint8_t kIsPartition = 0x80;

}  // namespace

void AppendPrefixSection(std::string_view rule, uint64_t num_prefixes, unsigned num_lookups,
                         const std::string* partition_end, std::string* out) {
  out->push_back(static_cast<char>(num_lookups | (partition_end == nullptr ? 0 : kIsPartition)));
  AppendVarint(out, num_prefixes);
  AppendVarint(out, rule.size());
  out->append(rule);
  if (partition_end != nullptr) out->append(*partition_end, 0, kMaxLastKeyBytes);
}

PrefixView ReadPrefixSection(ByteView bytes, uint64_t* num_prefixes) noexcept {
  Decoder from(bytes);
  PrefixView part{};
  const auto first = from.Fixed<uint8_t>();
  part.num_lookups = first & ~kIsPartition & 0xff;
  const uint64_t count = from.Varint();
  part.stored_rule = from.Bytes(from.Varint());
  if (part.stored_rule.size() <= sizeof(part.short_rule)) {
    std::copy(part.stored_rule.begin(), part.stored_rule.end(), part.short_rule);
  }
  part.last_key_bytes = static_cast<uint32_t>(from.rest().size());
  part.is_whole_file = (first & kIsPartition) == 0;
  if (num_prefixes != nullptr) *num_prefixes = count;
  const bool is_sound = from.ok() && part.num_lookups >= 1 && part.num_lookups <= kMaxPrefixLookups;
  return is_sound ? part : PrefixView{};
}

uint64_t HashPrefix(std::string_view prefix) noexcept {
  constexpr uint64_t kSeed = 0x5bd1e9955bd1e995;
  return prefix.size() <= kShortKeyBytes ? HashShortKey(prefix, kSeed) : HashKey(prefix, kSeed);
}

RangeAnswer QueryPrefixes(const PrefixView& part, const PointFilter& points, std::string_view begin,
                          std::string_view end) noexcept {
  const std::string_view prefix = PrefixOfRange(part.rule(), begin, end);
  if (prefix.empty()) return RangeAnswer::kMayMatch;
  uint64_t hash = HashPrefix(prefix);
  for (unsigned lookup = 0; points.MayContainHash(hash); hash = NextPrefixHash(hash)) {
    if (++lookup == part.num_lookups) return RangeAnswer::kMayMatch;
  }
  if (part.is_whole_file) return RangeAnswer::kNo;
  // Later partitions may hold keys with this prefix, unless this one ends after all such keys.
  const ByteView last_key(part.stored_rule.data() + part.stored_rule.size(), part.last_key_bytes);
  return AsText(last_key) > prefix ? RangeAnswer::kNo : RangeAnswer::kBeyond;
}

}  // namespace internal

}  // namespace blocksieve
