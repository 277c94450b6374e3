#include "integration/toylsm/filter_rates.h"

#include <algorithm>

#include "blocksieve/rate_allocation.h"
#include "blocksieve/sizing.h"

namespace blocksieve::toylsm {
namespace {

RateGoal GoalOf(const Options& options) {
  return {.wasted_reads = options.wasted_reads, .bits_per_key = options.bits_per_key};
}

KeyFilterOptions WantedFor(const Options& options, int level) {
  if (options.key_filters.empty()) return {.enabled = false};
  return options.key_filters[std::min(static_cast<size_t>(level), options.key_filters.size() - 1)];
}

}  // namespace

Status CheckFilters(const Options& options) {
  Status status = GoalOf(options).Check();
  for (int level = 0; status.ok() && level < kNumLevels; ++level) {
    status = FilterBuilders::Create(options, WantedFor(options, level)).status();
  }
  return status;
}

KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              uint64_t num_entries, int level) {
  KeyFilterOptions filter = WantedFor(options, level);
  if (!filter.enabled || !GoalOf(options).differs_by_run()) return filter;
  // The levels as they will be.
  std::vector<RunGroup> levels(kNumLevels, RunGroup{.num_runs = 0});
  const auto add = [&](int number, uint64_t entries) {
    RunGroup& group = levels[static_cast<size_t>(number)];
    const double keys = group.num_runs * group.keys_per_run + static_cast<double>(entries);
    group.num_runs = number == 0 ? group.num_runs + 1 : 1;
    group.keys_per_run = keys / group.num_runs;
  };
  add(level, num_entries);
  for (const Run& run : runs) {
    if (WantedFor(options, run.level).enabled) add(run.level, run.num_entries());
  }
  for (int i = 0; i < kNumLevels; ++i) {
    levels[static_cast<size_t>(i)].kind = WantedFor(options, i).kind;
  }
  const Result<FilterRates> rates = AllocateForFile(std::move(levels), level, GoalOf(options));
  filter.target_fpr = rates.ok() ? rates->target_fpr : kMinTargetFpr;  // else no memory
  // What answers for ranges is a part of a filter for points.
  if (filter.range_fpr != 0) filter.target_fpr = std::min(filter.target_fpr, kMaxTargetFpr);
  filter.enabled = filter.target_fpr <= kMaxTargetFpr;
  return filter;
}

}  // namespace blocksieve::toylsm
