#include "integration/toylsm/filter_rates.h"

#include <algorithm>

#include "blocksieve/filter_builder.h"
#include "blocksieve/range_filter.h"
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

uint64_t EntriesOf(const Run& run, const SstFiles& without) {
  uint64_t sum = 0;
  for (const auto& file : run.files) {
    const bool is_left = std::find(without.begin(), without.end(), file) == without.end();
    if (is_left) sum += file->index().num_entries;
  }
  return sum;
}

}  // namespace

Status CheckKeyFilters(const Options& options) {
  if (Status status = GoalOf(options).Check(); !status.ok()) return status;
  for (const KeyFilterOptions& filter : options.key_filters) {
    if (!filter.enabled) continue;
    const Result<FilterBuilder> builder =
        FilterBuilder::Create({.kind = filter.kind, .target_fpr = filter.target_fpr});
    if (!builder.ok()) return builder.status();
    if (filter.range_fpr == 0) continue;
    const Result<RangeFilterBuilder> ranges =
        RangeFilterBuilder::Create({.range_fpr = filter.range_fpr});
    if (!ranges.ok()) return ranges.status();
  }
  return Status::Ok();
}

KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              const SstFiles& inputs, uint64_t num_entries, int level) {
  KeyFilterOptions filter = WantedFor(options, level);
  if (!filter.enabled || !GoalOf(options).differs_by_run()) return filter;
  // First the run that is written, together with what its level goes on having.
  std::vector<RunGroup> groups = {
      {.keys_per_run = static_cast<double>(num_entries), .kind = filter.kind}};
  for (const Run& run : runs) {
    const auto keys = static_cast<double>(EntriesOf(run, inputs));
    const KeyFilterOptions other = WantedFor(options, run.level);
    if (level > 0 && run.level == level) {
      groups.front().keys_per_run += keys;
    } else if (other.enabled && keys > 0) {
      groups.push_back({.keys_per_run = keys, .kind = other.kind});
    }
  }
  const Result<RateAllocation> allocation = AllocateRates(groups, GoalOf(options));
  // An error: a tree of no keys, or no memory.
  filter.target_fpr = allocation.ok() ? allocation->target_fprs.front() : kMinTargetFpr;
  // What answers for ranges is a part of a filter for points.
  if (filter.range_fpr != 0) filter.target_fpr = std::min(filter.target_fpr, kMaxTargetFpr);
  filter.enabled = filter.target_fpr <= kMaxTargetFpr;
  return filter;
}

}  // namespace blocksieve::toylsm
