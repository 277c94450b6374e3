// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/compaction.h"

#include <algorithm>

#include "blocksieve/tree.h"

namespace blocksieve::toylsm {
namespace {

RateGoal ToGoal(const Options& options) {
  return {.wasted_reads = options.wasted_reads, .bits_per_key = options.bits_per_key};
}

std::optional<FilterOptions> WantedFor(const Options& options, int level) {
  if (options.key_filters.empty()) return std::nullopt;
  return options.key_filters[std::min(static_cast<size_t>(level), options.key_filters.size() - 1)];
}

}  // namespace

Status CheckFilters(const Options& options) {
  Status status = ToGoal(options).Check();
  for (int level = 0; status.ok() && level < kNumLevels; ++level) {
    status = FilterBuilders::Create(options, WantedFor(options, level)).status();
  }
  return status;
}

std::optional<FilterOptions> KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                                          uint64_t num_entries, int level, FileShares* shares) {
  std::optional<FilterOptions> filter = WantedFor(options, level);
  if (!filter || !ToGoal(options).differs_by_run()) return filter;
  // First the new run, together with the rest of its level.
  std::vector<TreeLevel> levels = {
      {.keys_per_run = static_cast<double>(num_entries), .kind = filter->kind}};
  for (const Run& run : runs) {
    const auto keys = static_cast<double>(run.num_entries());
    if (level > 0 && run.level == level) {
      levels.front().keys_per_run += keys;
    } else if (keys > 0) {
      levels.push_back({.keys_per_run = keys, .kind = WantedFor(options, run.level)->kind});
    }
  }
  const Result<RatePlan> rates = AllocateRates(levels, ToGoal(options));
  filter->target_fpr =
      rates.ok() ? rates->levels.front().target_fpr : kMinTargetFpr;  // out of memory
  // A range filter is part of a point filter, so the level must have one.
  if (filter->ranges) filter->target_fpr = std::min(filter->target_fpr, kMaxTargetFpr);
  filter->target_fpr = shares->ChooseFpr(filter->target_fpr);
  if (filter->target_fpr > kMaxTargetFpr) return std::nullopt;
  return filter;
}

}  // namespace blocksieve::toylsm
