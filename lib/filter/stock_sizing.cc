// SPDX-License-Identifier: Apache-2.0
#include "lib/filter/kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace blocksieve {
namespace internal {
namespace {

// The maximum bits per key, in thousandths, with 1, 2, ... probes, from RocksDB's FastLocalBloom.
// Above these, one more probe per 2,000, and 24 above 50,000.
constexpr std::array<int, 12> kMaxMillibitsOfProbes = {2080,  3580,  5100,  6640,  8300,  10070,
                                                       11720, 14001, 16050, 18300, 22001, 25501};
constexpr int kMinMillibits = 1000;
constexpr int kMaxMillibits = 100000;

// Rounds bits per key as RocksDB does. 0: no filter.
int Millibits(double bits_per_key) {
  if (!(bits_per_key >= 0.5)) return 0;
  if (bits_per_key < 1) return kMinMillibits;
  if (bits_per_key >= 100) return kMaxMillibits;
  return static_cast<int>(bits_per_key * 1000 + 0.500001);
}

// RocksDB's estimate of a Bloom filter's FPR (BloomMath::CacheLocalFpRate, util/bloom_impl.h): the
// mean over lines one standard deviation fuller and emptier than the average.
double EstimateOfRocksDb(double bits_per_key) {
  constexpr double kLineBits = 512;
  const double keys = kLineBits / bits_per_key;
  const auto standard = [&](double keys_in_line) {
    const double k = StockBloomProbes(bits_per_key);
    return std::pow(1 - std::exp(-k * keys_in_line / kLineBits), k);
  };
  return (standard(keys + std::sqrt(keys)) + standard(keys - std::sqrt(keys))) / 2;
}

// A Ribbon filter consists of blocks of 128 slots. The first ones have as many columns as bits of
// the FPR's logarithm, rounded down; the others have one more, so that the mean FPR is right.
constexpr double kSlotsPerBlock = 128;
constexpr double kBytesPerColumn = 16;  // of a block

// The inverse of StockRibbonFpr.
double FewestColumns(double fpr) { return std::floor(-std::log2(fpr)); }
double ShareOfFewest(double fpr) { return 2 * fpr / std::exp2(-FewestColumns(fpr)) - 1; }

double BloomBytes(double bits_per_key, double num_keys) {
  constexpr double kLineBytes = 64;
  constexpr double kMaxBytes = 0xffffffc0;
  const double lines = std::ceil(num_keys * bits_per_key / 8 / kLineBytes);
  return std::min(kLineBytes * lines, kMaxBytes);
}

double RibbonBytes(double fpr, double num_keys) {
  constexpr double kMaxKeys = 950'000'000;  // RocksDB builds a Bloom filter for more
  // Within 0.2 % of RocksDB's ribbon_config.cc, where few banding attempts fail.
  const double slots_per_key = std::max(1.0235, 0.9717 + 0.0038 * std::log2(num_keys));
  const double blocks = std::max(2.0, std::ceil(num_keys * slots_per_key / kSlotsPerBlock));
  const double starts = (blocks - 1) * kSlotsPerBlock + 1;
  const double with_fewest = std::floor((ShareOfFewest(fpr) * starts + 0.5) / kSlotsPerBlock);
  const double bytes = kBytesPerColumn * (blocks * (FewestColumns(fpr) + 1) - with_fewest);
  // RocksDB builds a Bloom filter for few keys, too, if it is smaller.
  if (blocks >= 8 && num_keys <= kMaxKeys) return bytes;
  const double bloom = BloomBytes(StockBitsPerKey(FilterKind::kStockRibbon, fpr), num_keys);
  return num_keys <= kMaxKeys ? std::min(bytes, bloom) : bloom;
}

// In ascending size and accuracy.
template <FilterKind kind>
const std::vector<Layout>& Layouts() {
  static const auto& layouts = *[] {
    // Rates per decade: the last level, which takes most of the memory, has a high one.
    constexpr int kHighRates = 32;  // down to 10^kLowest
    constexpr int kLowRates = 12;
    constexpr int kLowest = -3;
    auto* const made = new std::vector<Layout>;
    std::vector<double> fprs = {kMaxTargetFpr};
    for (int i = 10; i < -kLowest * kHighRates; ++i) {
      fprs.push_back(std::pow(10, -i / double{kHighRates}));
    }
    for (int i = 0; fprs.back() > kMinTargetFpr; ++i) {
      fprs.push_back(std::pow(10, kLowest - i / double{kLowRates}));
    }
    for (const double fpr : fprs) {
      if constexpr (kind == FilterKind::kStockBloom) {
        const double bits = StockBitsPerKey(kind, fpr);
        made->push_back({kind, bits, StockBloomProbes(bits), fpr});
      } else {
        const double fewest = FewestColumns(fpr);
        made->push_back({kind, kStockSlotsPerKey * (fewest + 1 - ShareOfFewest(fpr)),
                         static_cast<uint32_t>(fewest), fpr});
      }
    }
    return made;
  }();
  return layouts;
}

}  // namespace

uint32_t StockBloomProbes(double bits_per_key) noexcept {
  const int millibits = Millibits(bits_per_key);
  if (millibits == 0) return 0;
  for (size_t i = 0; i < kMaxMillibitsOfProbes.size(); ++i) {
    if (millibits <= kMaxMillibitsOfProbes[i]) return static_cast<uint32_t>(i + 1);
  }
  return millibits > 50000 ? 24 : static_cast<uint32_t>((millibits - 1) / 2000 - 1);
}

template <FilterKind kind>
Layout StockKind<kind>::ChooseLayout(double target_fpr) {
  const std::vector<Layout>& layouts = Layouts<kind>();
  return *std::partition_point(layouts.begin(), layouts.end(), [&](const Layout& layout) {
    return layout.predicted_fpr > target_fpr;
  });
}

template <FilterKind kind>
double StockKind<kind>::MinBitsPerKey() {
  return Layouts<kind>().front().bits_per_key;
}

template <FilterKind kind>
Layout StockKind<kind>::LayoutForBitsPerKey(double bits_per_key) {
  const std::vector<Layout>& layouts = Layouts<kind>();
  return std::partition_point(layouts.begin(), layouts.end(), [&](const Layout& layout) {
    return layout.bits_per_key <= bits_per_key;
  })[-1];
}

template <FilterKind kind>
uint64_t StockKind<kind>::PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  if (num_keys == 0) return 0;
  const auto keys = static_cast<double>(num_keys);
  return static_cast<uint64_t>(kind == FilterKind::kStockBloom
                                   ? BloomBytes(layout.bits_per_key, keys)
                                   : RibbonBytes(layout.predicted_fpr, keys));
}

template <FilterKind kind>
std::string StockKind<kind>::LayoutText(const Layout& layout) {
  const std::string number = std::to_string(layout.num_probes);
  return kind == FilterKind::kStockBloom ? "k = " + number : number + " whole columns";
}

template struct StockKind<FilterKind::kStockBloom>;
template struct StockKind<FilterKind::kStockRibbon>;

}  // namespace internal

double StockBloomFpr(double bits_per_key) noexcept {
  const int millibits = internal::Millibits(bits_per_key);
  if (millibits == 0) return 1;
  return BlockedBloomFpr(millibits / 1000.0, internal::StockBloomProbes(bits_per_key));
}

// Bisects: the FPR falls with the bits, except for slight rises where the probes change.
double StockBitsPerKey(FilterKind kind, double fpr) noexcept {
  int too_few = internal::kMinMillibits - 1;
  int enough = internal::kMaxMillibits;
  while (enough - too_few > 1) {
    const int middle = (too_few + enough) / 2;
    const double bits = middle / 1000.0;
    const double fpr_of_bits =
        kind == FilterKind::kStockBloom ? StockBloomFpr(bits) : internal::EstimateOfRocksDb(bits);
    (fpr_of_bits <= fpr ? enough : too_few) = middle;
  }
  return enough / 1000.0;
}

}  // namespace blocksieve
