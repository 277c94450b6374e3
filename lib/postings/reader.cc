// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>

#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

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
