#include "bench/skip/separate_filters.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "lib/granule/bit_slices.h"

namespace blocksieve::bench {
namespace {

constexpr uint32_t kMaxProbes = 32;
constexpr uint32_t kBranchFreeProbes = 3;
constexpr size_t kPrefetchedFilters = 16;

// Where a value's bits are, in every filter.
struct Bits {
  std::array<size_t, kMaxProbes> word;
  std::array<uint64_t, kMaxProbes> mask;

  Bits(uint64_t value_hash, uint64_t bits_per_filter, uint32_t num_probes) {
    internal::Positions positions(value_hash, bits_per_filter);
    for (uint32_t j = 0; j < num_probes; ++j) {
      const uint64_t bit = positions.Next();
      word[j] = static_cast<size_t>(bit / 64);
      mask[j] = uint64_t{1} << (bit % 64);
    }
  }

  uint64_t Has(const uint64_t* filter, uint32_t j) const {
    return (filter[word[j]] & mask[j]) != 0 ? 1 : 0;
  }
};

}  // namespace

SeparateFilters::SeparateFilters(size_t num_filters, uint64_t bits_per_filter, uint32_t num_probes)
    : num_filters_(num_filters),
      bits_per_filter_(bits_per_filter),
      num_probes_(num_probes),
      words_per_filter_(static_cast<size_t>((bits_per_filter + 63) / 64)),
      words_((num_filters + kPrefetchedFilters) * words_per_filter_) {
  assert(num_probes >= kBranchFreeProbes && num_probes <= kMaxProbes);
}

void SeparateFilters::Add(size_t filter, uint64_t value_hash) {
  const Bits bits(value_hash, bits_per_filter_, num_probes_);
  uint64_t* const words = words_.data() + filter * words_per_filter_;
  for (uint32_t j = 0; j < num_probes_; ++j) words[bits.word[j]] |= bits.mask[j];
}

void SeparateFilters::FindContaining(uint64_t value_hash, GranuleSet* found) const {
  assert(found->num_granules() == num_filters_);
  const Bits bits(value_hash, bits_per_filter_, num_probes_);
  const uint64_t* filter = words_.data();
  for (size_t g = 0; g < num_filters_;) {
    uint64_t kept = 0;
    const size_t end = std::min(g + 64, num_filters_);
    for (size_t i = 0; g < end; ++i, ++g, filter += words_per_filter_) {
      const uint64_t* const ahead = filter + kPrefetchedFilters * words_per_filter_;
      for (uint32_t j = 0; j < kBranchFreeProbes; ++j) __builtin_prefetch(ahead + bits.word[j]);
      uint64_t has = bits.Has(filter, 0) & bits.Has(filter, 1) & bits.Has(filter, 2);
      for (uint32_t j = kBranchFreeProbes; has != 0 && j < num_probes_; ++j) {
        has = bits.Has(filter, j);
      }
      kept |= has << i;
    }
    found->words()[(g - 1) / 64] = kept;
  }
}

}  // namespace blocksieve::bench
