#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "blocksieve/sizing.h"
#include "lib/base/errors.h"
#include "lib/lsm/level_rules.h"
#include "lib/lsm/run_groups.h"
#include "lib/range/range_filter.h"

// The rules that allocate FPRs to the levels of a tree that compactions keep changing.

namespace blocksieve {
namespace {

// Limits on the cost of filters whose files move to deeper levels. The first one costs nothing:
// wasted reads of such a file are negligible next to those of the last level.
constexpr double kMinShareOfWastedReads = 1.0 / 512;
constexpr double kMaxBitsPerKey = 30;

constexpr double kMinLookupShare = 1.0 / 32;

// Files of level 0 that are compacted into level 1: four by default in RocksDB.
constexpr double kLevel0RunsPerLevel1 = 4;

// Level 0 is often empty when a file is planned, but not when its filters are probed.
void ExpectLevel0(std::vector<RunGroup>* levels) {
  RunGroup& level0 = levels->front();
  level0.num_runs = std::max(level0.num_runs, 1.0);
  if (level0.keys_per_run > 0) return;
  double smallest = 0;
  for (const RunGroup& level : *levels) {
    const double keys = level.keys_per_run;
    if (keys > 0 && (smallest == 0 || keys < smallest)) smallest = keys;
  }
  level0.keys_per_run = smallest / kLevel0RunsPerLevel1;
}

double MinRate(FilterKind kind, double wasted_reads) {
  const Result<Layout> largest = LayoutForBitsPerKey(kind, kMaxBitsPerKey);
  return std::max({wasted_reads * kMinShareOfWastedReads, largest->predicted_fpr, kMinTargetFpr});
}

size_t LargestLevel(const std::vector<RunGroup>& levels) {
  const auto largest = std::max_element(
      levels.begin(), levels.end(),
      [](const RunGroup& a, const RunGroup& b) { return a.keys_per_run < b.keys_per_run; });
  return static_cast<size_t>(largest - levels.begin());
}

FilterRates LimitedRates(const RateAllocation& rates, size_t level, FilterKind kind,
                         bool needs_filter) {
  FilterRates limited;
  limited.target_fpr = std::max(rates.target_fprs[level], MinRate(kind, rates.wasted_reads));
  if (needs_filter) limited.target_fpr = std::min(limited.target_fpr, kMaxTargetFpr);
  if (rates.range_fprs.empty()) return limited;
  limited.range_fpr =
      std::max(rates.range_fprs[level], rates.wasted_seek_reads * kMinShareOfWastedReads);
  return limited;
}

}  // namespace

Result<TreeRates> AllocateByLevel(std::vector<RunGroup> levels, const RateGoal& goal,
                                  bool has_prefixes) try {
  assert(!levels.empty());
  ExpectLevel0(&levels);
  for (RunGroup& level : levels) level.lookup_share = std::max(level.lookup_share, kMinLookupShare);
  const Result<RateAllocation> rates = AllocateRates(levels, goal);
  if (!rates.ok()) return rates.status();
  const bool need_filters = goal.seek_fraction || (has_prefixes && !goal.bits_per_key);
  TreeRates tree{.levels = {}, .is_reached = rates->is_reached};
  for (size_t i = 0; i < levels.size(); ++i) {
    tree.levels.push_back(goal.target_fpr ? FilterRates{.target_fpr = *goal.target_fpr}
                                          : LimitedRates(*rates, i, levels[i].kind, need_filters));
  }
  return tree;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Result<FilterRates> AllocateForFile(std::vector<RunGroup> levels, int level, const RateGoal& goal,
                                    bool has_prefixes) {
  assert(!levels.empty() && level < static_cast<int>(levels.size()));
  ExpectLevel0(&levels);
  const size_t written = level < 0 ? LargestLevel(levels) : static_cast<size_t>(level);
  RunGroup& run = levels[written];
  if (lsm::NumKeys(run) == 0) run = {1, levels[0].keys_per_run, run.kind, run.lookup_share};
  run.keys_per_run = std::max(run.keys_per_run, 1.0);
  const Result<TreeRates> tree = AllocateByLevel(std::move(levels), goal, has_prefixes);
  if (!tree.ok()) return tree.status();
  return tree->levels[written];
}

}  // namespace blocksieve
