// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "blocksieve/tree.h"
#include "lib/base/errors.h"

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
void ExpectLevel0(std::vector<TreeLevel>* levels) {
  TreeLevel& level0 = levels->front();
  level0.num_runs = std::max(level0.num_runs, 1.0);
  if (level0.keys_per_run > 0) return;
  double smallest = 0;
  for (const TreeLevel& level : *levels) {
    const double keys = level.keys_per_run;
    if (keys > 0 && (smallest == 0 || keys < smallest)) smallest = keys;
  }
  level0.keys_per_run = smallest / kLevel0RunsPerLevel1;
}

Status NoSuchLevel(int level, const std::vector<TreeLevel>& levels) {
  return Status::InvalidArgument("level is " + std::to_string(level) +
                                 "; number of levels: " + std::to_string(levels.size()));
}

size_t LargestLevel(const std::vector<TreeLevel>& levels) {
  const auto largest = std::max_element(
      levels.begin(), levels.end(),
      [](const TreeLevel& a, const TreeLevel& b) { return a.keys_per_run < b.keys_per_run; });
  return static_cast<size_t>(largest - levels.begin());
}

FilterRates LimitedRates(const RatePlan& plan, size_t level, FilterKind kind, bool needs_filter) {
  FilterRates rates = plan.levels[level];
  const double min_fpr = LayoutForBitsPerKey(kind, kMaxBitsPerKey)->predicted_fpr;
  rates.target_fpr = std::max(
      {rates.target_fpr, plan.wasted_reads * kMinShareOfWastedReads, min_fpr, kMinTargetFpr});
  if (needs_filter) rates.target_fpr = std::min(rates.target_fpr, kMaxTargetFpr);
  rates.range_fpr = std::max(rates.range_fpr, plan.wasted_seek_reads * kMinShareOfWastedReads);
  return rates;
}

}  // namespace

void ExpectFewKeysOnLevel0(std::vector<TreeLevel>* levels) noexcept {
  constexpr double kShare = 0.001;
  if (levels->empty() || levels->front().num_keys() > 0) return;
  levels->front() = {1, kShare * NumKeys(*levels), levels->front().kind};
}

void SetKinds(const RateGoal& goal, bool level0_is_short_lived,
              std::vector<TreeLevel>* levels) noexcept {
  for (TreeLevel& level : *levels) {
    const bool is_level0 = &level == &levels->front();
    level.kind = ChooseKind(goal.kind, is_level0 && level0_is_short_lived);
  }
}

Result<RatePlan> AllocateByLevel(std::vector<TreeLevel> levels, const RateGoal& goal) try {
  if (levels.empty()) return NoSuchLevel(0, levels);
  ExpectLevel0(&levels);
  for (TreeLevel& level : levels) {
    level.lookup_share = std::max(level.lookup_share, kMinLookupShare);
  }
  Result<RatePlan> plan = AllocateRates(levels, goal);
  if (!plan.ok() || goal.target_fpr) return plan;
  const bool need_filters =
      !goal.filter_bytes && (goal.seek_fraction || (goal.has_prefixes && !goal.bits_per_key));
  for (size_t i = 0; i < levels.size(); ++i) {
    plan->levels[i] = LimitedRates(*plan, i, levels[i].kind, need_filters);
  }
  return plan;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<FilterRates> AllocateForFile(std::vector<TreeLevel> levels, int level,
                                    const RateGoal& goal) try {
  if (levels.empty() || level >= static_cast<int>(levels.size())) return NoSuchLevel(level, levels);
  ExpectLevel0(&levels);
  const size_t written = level < 0 ? LargestLevel(levels) : static_cast<size_t>(level);
  TreeLevel& run = levels[written];
  if (run.num_keys() == 0) run = {1, levels[0].keys_per_run, run.kind, run.lookup_share};
  run.keys_per_run = std::max(run.keys_per_run, 1.0);
  BLOCKSIEVE_ASSIGN_OR_RETURN(const RatePlan plan, AllocateByLevel(std::move(levels), goal));
  return plan.levels[written];
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
