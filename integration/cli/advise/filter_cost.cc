#include <time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "blocksieve/filter.h"
#include "integration/cli/advise/plan_search.h"

namespace blocksieve::cli {
namespace {

constexpr uint64_t kKeys = 100'000;
constexpr int kRepetitions = 3;  // the fastest counts; others shared the processor

double CpuNanoseconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

// The key with this number: 16 bytes, of which the first eight differ from key to key.
std::string_view KeyOf(uint64_t number, std::array<char, 16>* bytes) {
  std::memcpy(bytes->data(), &number, sizeof(number));
  return {bytes->data(), bytes->size()};
}

FilterCost Measure(const FilterOptions& options) {
  FilterCost best{.build_ns_per_key = std::numeric_limits<double>::infinity(),
                  .probe_ns = std::numeric_limits<double>::infinity()};
  for (int i = 0; i < kRepetitions; ++i) {
    std::array<char, 16> bytes{};
    const double begin = CpuNanoseconds();
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return {};
    for (uint64_t n = 0; n < kKeys; ++n) builder->AddKey(KeyOf(n, &bytes));
    const Result<FinishedFilter> filter = builder->Finish();
    if (!filter.ok()) return {};
    const double built = CpuNanoseconds();
    const Filter reader = Filter::Open(filter->block.view());
    uint64_t passed = 0;
    for (uint64_t n = kKeys; n < 2 * kKeys; ++n)
      passed += reader.MayContain(KeyOf(n, &bytes)) ? 1 : 0;
    [[maybe_unused]] volatile const uint64_t is_used = passed;
    const double probed = CpuNanoseconds();
    best.build_ns_per_key = std::min(best.build_ns_per_key, (built - begin) / kKeys);
    best.probe_ns = std::min(best.probe_ns, (probed - built) / kKeys);
  }
  return best;
}

}  // namespace

FilterCost CostOf(const Plans& plans, const Forest& forest, KnownCosts* known) {
  FilterCost cost;
  double keys = 0;
  double probes = 0;
  for (const ForestLevel& level : LevelsOf(forest)) {
    const FilterKind kind = level.In(plans).kind;
    const double target_fpr = level.RatesIn(plans).target_fpr;
    const bool has_filters = target_fpr <= kMaxTargetFpr;
    const auto [entry, is_new] = known->try_emplace({kind, target_fpr});
    if (is_new && has_filters) entry->second = Measure({.kind = kind, .target_fpr = target_fpr});
    const auto num_keys = static_cast<double>(level.num_keys);
    const double lookups = static_cast<double>(forest.trees[level.tree].num_keys()) *
                           level.lookup_share * static_cast<double>(level.runs.size()) *
                           (has_filters ? 1 : 0);
    cost.build_ns_per_key += num_keys * entry->second.build_ns_per_key;
    cost.probe_ns += lookups * entry->second.probe_ns;
    keys += num_keys;
    probes += lookups;
  }
  if (keys > 0) cost.build_ns_per_key /= keys;
  if (probes > 0) cost.probe_ns /= probes;
  return cost;
}

}  // namespace blocksieve::cli
