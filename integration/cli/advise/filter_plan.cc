#include "integration/cli/advise/filter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>
#include <utility>

#include "blocksieve/filter_builder.h"
#include "blocksieve/sizing.h"

namespace blocksieve::cli {
namespace {

// Values of options are rounded to three digits, bits per key to hundredths.
constexpr double kBitsSteps = 100;

// Steps of a search: they end far below the three digits that are kept.
constexpr int kHalvings = 40;

double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

struct Filters {
  uint64_t num_bytes = 0;
  double fpr = 1;
};

Filters FiltersOf(const FileReport& file, const LevelFilters& wanted) {
  const uint64_t keys = FilterKeys(file);
  const Result<FilterBuilder> builder =
      FilterBuilder::Create({.kind = wanted.kind, .target_fpr = wanted.target_fpr});
  if (!builder.ok() || keys == 0) return {};  // no filters are wanted
  // As many filters as the file has today, where it may have one per partition or granule.
  const uint64_t num_filters = std::clamp<uint64_t>(file.filter.num_filters, 1, keys);
  const uint64_t keys_each = keys / num_filters;
  const uint64_t bytes_each = builder->BlockBytes(keys_each);
  return {num_filters * bytes_each,
          std::min(builder->layout().predicted_fpr, builder->EstimateFpr(keys_each, bytes_each))};
}

// Rates that differ by no more than this, in bits, belong to the same layout: the rate of a filter
// differs a little from that of its layout, because its keys do not fill lines and segments
// exactly.
constexpr double kSameRateBits = 0.1;

bool IsAsPlanned(const FilterReport& filter, FilterKind kind, double fpr) {
  if (fpr > kMaxTargetFpr) return filter.origin == FilterOrigin::kNone;
  return filter.origin == FilterOrigin::kBlocksieve && filter.kind == FilterKindName(kind) &&
         std::abs(std::log2(filter.predicted_fpr / fpr)) <= kSameRateBits;
}

void AddRun(const SortedRun& run, const LevelFilters& wanted, FilterPlan* plan) {
  double weighted_fpr = 0;
  for (const FileReport* const file : run.files) {
    const Filters filters = FiltersOf(*file, wanted);
    plan->filter_bytes += filters.num_bytes;
    weighted_fpr += filters.fpr * static_cast<double>(FilterKeys(*file));
    if (IsAsPlanned(file->filter, wanted.kind, filters.fpr)) continue;
    ++plan->rewritten_files;
    plan->rewritten_bytes += file->num_bytes;
    plan->rewritten_keys += FilterKeys(*file);
  }
  const auto num_keys = static_cast<double>(run.num_keys);
  plan->fprs.push_back(run.num_keys == 0 ? 1 : weighted_fpr / num_keys);
}

FilterPlan MakePlan(const std::vector<SortedRun>& runs, FilterSetting setting,
                    const std::vector<double>& target_fprs) {
  assert(std::any_of(runs.begin(), runs.end(),
                     [](const SortedRun& run) { return run.num_keys != 0; }));
  FilterPlan plan;
  plan.setting = std::move(setting);
  for (const auto& level_runs : ByLevel(runs)) {
    const int level = level_runs.front().level;
    plan.levels.push_back({level, KindOf(level_runs.front()), target_fprs[plan.levels.size()]});
    for (const SortedRun& run : level_runs) AddRun(run, plan.levels.back(), &plan);
  }
  return plan;
}

FilterPlan PlanForOneRateOf(const std::vector<SortedRun>& runs, double target_fpr) {
  return MakePlan(runs, {"target_fpr", target_fpr},
                  std::vector<double>(ByLevel(runs).size(), target_fpr));
}

Status TooLittle(uint64_t filter_bytes, uint64_t least_bytes) {
  return Status::InvalidArgument(fmt::format("{} bytes are too few for any filter; the least is {}",
                                             filter_bytes, least_bytes));
}

}  // namespace

Result<FilterPlan> PlanForBitsPerKey(const std::vector<SortedRun>& runs, double bits_per_key) {
  const Result<RateAllocation> allocation = AllocateForBitsPerKey(GroupsOf(runs), bits_per_key);
  if (!allocation.ok()) return allocation.status();
  return MakePlan(runs, {"bits_per_key", bits_per_key}, allocation->target_fprs);
}

Result<FilterPlan> PlanForWastedReads(const std::vector<SortedRun>& runs, double wasted_reads) {
  const double rounded = std::max(RoundDown(wasted_reads), kMinWastedReads);
  const Result<RateAllocation> allocation = AllocateForWastedReads(GroupsOf(runs), rounded);
  if (!allocation.ok()) return allocation.status();
  return MakePlan(runs, {"wasted_reads", rounded}, allocation->target_fprs);
}

Result<FilterPlan> PlanForSameReads(const std::vector<SortedRun>& runs, const RunCoverage& coverage,
                                    double wasted_reads) {
  double low = std::log(wasted_reads);
  double high = std::log(kMaxWastedReads);
  Result<FilterPlan> best = PlanForWastedReads(runs, wasted_reads);
  for (int i = 0; i < kHalvings && best.ok(); ++i) {
    const double middle = (low + high) / 2;
    Result<FilterPlan> plan = PlanForWastedReads(runs, std::exp(middle));
    if (plan.ok() && WastedReads(coverage, plan->fprs, 1) <= wasted_reads) {
      best = std::move(plan);
      low = middle;
    } else {
      high = middle;
    }
  }
  return best;
}

Result<FilterPlan> PlanForMemory(const std::vector<SortedRun>& runs, uint64_t filter_bytes) {
  // Footers and lines that are not full come on top of what is allocated, so search for the most
  // hundredths of a bit whose filters fit.
  int least = static_cast<int>(kMinAllocatedBitsPerKey * kBitsSteps);
  int most = static_cast<int>(kMaxAllocatedBitsPerKey * kBitsSteps);
  std::optional<FilterPlan> best;
  uint64_t too_many_bytes = 0;
  while (least <= most) {
    const int middle = (least + most) / 2;
    Result<FilterPlan> plan = PlanForBitsPerKey(runs, middle / kBitsSteps);
    if (!plan.ok()) return plan.status();
    if (plan->filter_bytes <= filter_bytes) {
      if (plan->filter_bytes > 0) best = *std::move(plan);
      least = middle + 1;
    } else {
      too_many_bytes = plan->filter_bytes;
      most = middle - 1;
    }
  }
  if (!best) return TooLittle(filter_bytes, too_many_bytes);
  return *std::move(best);
}

Result<FilterPlan> PlanForOneRate(const std::vector<SortedRun>& runs, uint64_t filter_bytes) {
  double low = std::log(kMinTargetFpr);
  double high = std::log(kMaxTargetFpr);
  std::optional<FilterPlan> best;
  uint64_t too_many_bytes = 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    // Rounded before it is tried, so that the rounded rate is the one that fits.
    const double target = std::stod(fmt::format("{:.3g}", std::exp(middle)));
    FilterPlan plan = PlanForOneRateOf(runs, target);
    if (plan.filter_bytes <= filter_bytes) {
      best = std::move(plan);
      high = middle;
    } else {
      too_many_bytes = plan.filter_bytes;
      low = middle;
    }
  }
  if (!best) return TooLittle(filter_bytes, too_many_bytes);
  return *std::move(best);
}

}  // namespace blocksieve::cli
