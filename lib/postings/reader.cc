// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "lib/postings/dictionary.h"
#include "lib/postings/postings.h"

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

// Values that are prefetched together.
constexpr size_t kBatch = 16;

bool IsSubset(std::span<const uint64_t> some, const uint64_t* all) noexcept {
  for (const uint64_t word : some) {
    if ((word & ~*all++) != 0) return false;
  }
  return true;
}

/// One past the last granule; 0 if there is none.
uint64_t EndOf(std::span<const uint64_t> words) noexcept {
  size_t size = words.size();
  while (size != 0 && words[size - 1] == 0) --size;
  return size == 0 ? 0 : 64 * size - static_cast<size_t>(std::countl_zero(words[size - 1]));
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

bool Postings::Open(ByteView bytes, uint64_t num_granules) {
  Decoder decoder(bytes);
  num_granules_ = num_granules;
  num_ribbons_ = decoder.Fixed<uint8_t>();
  if (num_ribbons_ > 2) return false;
  if (num_ribbons_ != 0) {
    group_granules_ = decoder.Varint();
    check_bits_ = decoder.Fixed<uint8_t>();
    if (num_ribbons_ == 2 && !(is_single_.Open(&decoder) && is_single_.columns() == 1)) {
      return false;
    }
    if (!group_of_.Open(&decoder) || group_of_.columns() <= check_bits_ || group_granules_ == 0 ||
        group_granules_ > num_granules) {
      return false;
    }
  }
  const uint32_t min_count = num_ribbons_ == 0 ? 1 : 2;
  return decoder.ok() && dictionary_.Open(decoder.rest(), num_granules, min_count);
}

bool Postings::AddContaining(uint64_t hash, uint64_t end, uint64_t* words) const noexcept {
  if (num_ribbons_ == 0 || (num_ribbons_ == 2 && is_single_.Get(hash) == 0)) {
    return dictionary_.AddGranules(hash, end, words);
  }
  const uint32_t number = group_of_.Get(hash);
  if (((number ^ RibbonFingerprint(hash)) & LowBits(check_bits_)) != 0) return true;
  const uint64_t first = (number >> check_bits_) * group_granules_;
  if (first < num_granules_) {
    if (first < end) SetBits(first, std::min(first + group_granules_, end) - 1, words);
    return true;
  }
  return num_ribbons_ == 2 || dictionary_.AddGranules(hash, end, words);
}

void Postings::PruneByAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const {
  const std::span<uint64_t> words = candidates->words();
  std::array<uint64_t, 512> few;  // on the stack, unless the index is unusually large
  std::vector<uint64_t> many(words.size() > few.size() ? words.size() : 0);
  uint64_t* const containing = many.empty() ? few.data() : many.data();
  std::fill_n(containing, words.size(), 0);
  const uint64_t end = EndOf(words);  // lists are read up to here
  while (!hashes.empty()) {
    const auto batch = hashes.first(std::min(hashes.size(), kBatch));
    hashes = hashes.subspan(batch.size());
    if (batch.size() > 1 && num_ribbons_ == 0) {
      for (const uint64_t hash : batch) dictionary_.Prefetch(hash);
    }
    for (const uint64_t hash : batch) {
      if (!AddContaining(hash, end, containing)) return;
    }
    // Many values soon cover all candidates.
    if (!hashes.empty() && IsSubset(words, containing)) return;
  }
  for (size_t w = 0; w < words.size(); ++w) words[w] &= containing[w];
}

uint64_t Postings::probe_bytes() const noexcept {
  const uint64_t columns = is_single_.columns() + group_of_.columns();
  return 2 * sizeof(uint64_t) * columns + dictionary_.probe_bytes();
}

}  // namespace blocksieve::internal
