// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "lib/postings/dictionary.h"

namespace blocksieve::internal {
namespace {

/// Reads 16 unary numbers, ones followed by a zero: how many remainders of a bucket have each value
/// of their highest bits. Sets the indexes of those with the wanted value, and the number of all.
/// False if the numbers are longer than 64 bits.
bool ReadRemainderRange(uint64_t wanted, BitReader* from, uint64_t* begin, uint64_t* end,
                        uint64_t* num_values) noexcept {
  const uint64_t bits = from->Peek();
  // Setting the lowest zero repeatedly finds all of them, including the one of the wanted number.
  uint64_t filled = bits;
  uint64_t at_range = bits;
  for (uint64_t i = 1; i < 16; ++i) {
    filled |= filled + 1;
    at_range = i == wanted ? filled : at_range;
  }
  const auto last_zero = static_cast<unsigned>(std::countr_one(filled));
  const auto zero = static_cast<unsigned>(std::countr_one(at_range));
  if (last_zero >= 64) return false;
  // The ones directly below that zero are the number.
  const auto count = zero == 0 ? 0u : static_cast<unsigned>(std::countl_one(bits << (64 - zero)));
  *end = zero - wanted;
  *begin = *end - count;
  *num_values = last_zero - 15;
  from->Skip(last_zero + 1);
  return true;
}

}  // namespace

bool Dictionary::Open(ByteView bytes, uint64_t num_granules, uint32_t min_count) {
  if (num_granules > kMaxListedGranules) return false;
  Decoder decoder(bytes);
  shape_.num_granules = num_granules;
  shape_.min_count = min_count;
  shape_.remainder_bits = decoder.Fixed<uint8_t>();
  shape_.count_bits = decoder.Fixed<uint8_t>();
  shape_.closeness = decoder.Fixed<uint8_t>();
  shape_.num_buckets = decoder.Varint();
  distance_ = decoder.Varint();
  ahead_ = decoder.Varint();
  offsets_ = PackedInts::Read(shape_.num_buckets, &decoder);
  stream_ = decoder.rest();
  lists_ = GranuleLists(num_granules, shape_.closeness);
  return decoder.ok() && shape_.num_buckets != 0 && shape_.num_buckets <= 8 * stream_.size() &&
         shape_.remainder_bits >= DictionaryShape::kMinRemainderBits &&
         shape_.remainder_bits <= DictionaryShape::kMaxRemainderBits &&
         shape_.count_bits <= DictionaryShape::kMaxCountBits &&
         shape_.closeness <= DictionaryShape::kMaxCloseness;
}

bool Dictionary::AddGranules(uint64_t hash, uint64_t end, uint64_t* words) const noexcept {
  BitReader reader(stream_, BucketStart(shape_.BucketOf(hash)));
  const uint64_t remainder = shape_.RemainderOf(hash, reader.ExpGolomb(0));
  uint64_t found = 0;
  uint64_t last = 0;
  uint64_t num_values = 0;
  if (!ReadRemainderRange(remainder >> shape_.low_bits(), &reader, &found, &last, &num_values)) {
    return false;
  }

  const uint64_t lows = reader.position();
  const uint64_t wanted = remainder & LowBits(shape_.low_bits());
  for (; found < last; ++found) {
    BitReader low(stream_, lows + found * shape_.low_bits());
    if (low.Bits(shape_.low_bits()) == wanted) break;
  }
  reader.Skip(num_values * shape_.low_bits());
  if (!reader.ok()) return false;
  if (found == last) return true;
  for (uint64_t i = 0;; ++i) {
    const uint64_t count = reader.ExpGolomb(shape_.count_bits) + shape_.min_count;
    if (count > shape_.num_granules || !reader.ok()) return false;
    if (i == found) return lists_.Read(count, reader, end, words);
    if (!lists_.Skip(count, &reader)) return false;
  }
}

}  // namespace blocksieve::internal
