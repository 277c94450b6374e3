#include "integration/toylsm/filter_rates.h"

#include <algorithm>
#include <map>
#include <string>

#include "blocksieve/filter_builder.h"
#include "blocksieve/rate_allocation.h"
#include "blocksieve/sizing.h"

namespace blocksieve::toylsm {
namespace {

bool HasLevelRates(const Options& options) { return options.wasted_reads || options.bits_per_key; }

KeyFilterOptions WantedFor(const Options& options, int level) {
  if (options.key_filters.empty()) return {.enabled = false};
  return options.key_filters[std::min(static_cast<size_t>(level), options.key_filters.size() - 1)];
}

Result<RateAllocation> Allocate(const Options& options, const std::vector<RunGroup>& groups) {
  return options.wasted_reads ? AllocateForWastedReads(groups, *options.wasted_reads)
                              : AllocateForBitsPerKey(groups, *options.bits_per_key);
}

Status CheckLevelRates(const Options& options, FilterKind kind) {
  if (!HasLevelRates(options)) return Status::Ok();
  constexpr double kManyKeys = 1e6;
  return Allocate(options, {{.keys_per_run = kManyKeys, .kind = kind}}).status();
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
  if (options.wasted_reads && options.bits_per_key) {
    return Status::InvalidArgument("wasted_reads=" + std::to_string(*options.wasted_reads) +
                                   ", bits_per_key=" + std::to_string(*options.bits_per_key) +
                                   " exclude each other; allowed is one of them");
  }
  // Also if no level has filters to be chosen so.
  Status level_rates = CheckLevelRates(options, FilterKind::kRibbon);
  if (!level_rates.ok()) return level_rates;
  for (const KeyFilterOptions& filter : options.key_filters) {
    if (!filter.enabled) continue;
    const Result<FilterBuilder> builder =
        FilterBuilder::Create({.kind = filter.kind, .target_fpr = filter.target_fpr});
    if (!builder.ok()) return builder.status();
    level_rates = CheckLevelRates(options, filter.kind);
    if (!level_rates.ok()) return level_rates;
  }
  return Status::Ok();
}

KeyFilterOptions KeyFilterFor(const Options& options, const std::vector<Run>& runs,
                              const SstFiles& inputs, uint64_t num_entries, int level) {
  KeyFilterOptions filter = WantedFor(options, level);
  if (!filter.enabled || !HasLevelRates(options)) return filter;
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
  const Result<RateAllocation> allocation = Allocate(options, groups);
  // An error: so many runs cannot waste so few reads.
  filter.target_fpr = allocation.ok() ? allocation->target_fprs.front() : kMinTargetFpr;
  filter.enabled = filter.target_fpr <= kMaxTargetFpr;
  return filter;
}

}  // namespace blocksieve::toylsm
