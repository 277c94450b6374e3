#include "integration/cli/advise/filter_price.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "blocksieve/filter.h"

namespace blocksieve::cli {
namespace {

constexpr uint64_t kKeys = 100'000;
constexpr int kRepetitions = 3;  // the best counts: others had to share the processor

double CpuNanoseconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

/// Sixteen bytes, of which half differ.
class Key {
 public:
  std::string_view Of(uint64_t number) {
    std::memcpy(bytes_, &number, sizeof(number));
    return {bytes_, sizeof(bytes_)};
  }

 private:
  char bytes_[16] = {};
};

FilterPrice Measure(const FilterOptions& options) {
  FilterPrice best{.build_ns_per_key = std::numeric_limits<double>::infinity(),
                   .probe_ns = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kRepetitions; ++i) {
    Key key;
    const double begin = CpuNanoseconds();
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return {};
    for (uint64_t n = 0; n < kKeys; ++n) builder->AddKey(key.Of(n));
    const Result<OwnedBytes> block = builder->Finish();
    if (!block.ok()) return {};
    const double built = CpuNanoseconds();
    const FilterReader reader = FilterReader::Open(block->view());
    uint64_t passed = 0;
    for (uint64_t n = kKeys; n < 2 * kKeys; ++n) passed += reader.MayMatch(key.Of(n)) ? 1 : 0;
    [[maybe_unused]] volatile const uint64_t is_used = passed;
    const double asked = CpuNanoseconds();
    best.build_ns_per_key = std::min(best.build_ns_per_key, (built - begin) / kKeys);
    best.probe_ns = std::min(best.probe_ns, (asked - built) / kKeys);
  }
  return best;
}

}  // namespace

FilterPrice PriceCalibration::Of(FilterKind kind, double target_fpr) {
  if (target_fpr > kMaxTargetFpr) return {};
  const auto [entry, is_new] = known_.try_emplace({kind, target_fpr});
  if (is_new) entry->second = Measure({.kind = kind, .target_fpr = target_fpr});
  return entry->second;
}

FilterPrice PriceOf(const FilterPlan& plan, const RunList& list, PriceCalibration* calibration) {
  const std::vector<double> shares = list.tree.LookupShares();
  FilterPrice price;
  double keys = 0;
  double probes = 0;
  size_t level = 0;
  size_t run = 0;
  for (const auto& runs : ByLevel(list.runs)) {
    const LevelFilters& filters = plan.levels[level++];
    const FilterPrice of_level = calibration->Of(filters.kind, filters.target_fpr);
    for (const SortedRun& one : runs) {
      const auto num_keys = static_cast<double>(one.num_keys);
      const double share = filters.target_fpr > kMaxTargetFpr ? 0 : shares[run];
      price.build_ns_per_key += num_keys * of_level.build_ns_per_key;
      price.probe_ns += share * of_level.probe_ns;
      keys += num_keys;
      probes += share;
      ++run;
    }
  }
  if (keys > 0) price.build_ns_per_key /= keys;
  if (probes > 0) price.probe_ns /= probes;
  return price;
}

}  // namespace blocksieve::cli
