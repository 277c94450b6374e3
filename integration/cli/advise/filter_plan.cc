#include "integration/cli/advise/filter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
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

// `fpr`: of the planned filter of the file's keys. A ribbon where a Bloom filter is planned is
// smaller, and as good if it has the rate that was asked for: a Bloom filter of few keys has a
// lower one, because it consists of whole lines.
bool IsAsPlanned(const FilterReport& filter, const LevelFilters& wanted, double fpr) {
  if (fpr > kMaxTargetFpr) return filter.origin == FilterOrigin::kNone;
  if (filter.origin != FilterOrigin::kBlocksieve) return false;
  if (filter.kind != FilterKindName(wanted.kind)) {
    if (filter.kind != FilterKindName(FilterKind::kRibbon)) return false;
    fpr = wanted.target_fpr;
  }
  return std::abs(std::log2(filter.predicted_fpr / fpr)) <= kSameRateBits;
}

// Files that are as planned stay, and count as they are, not as the model has them.
void AddRun(const SortedRun& run, const LevelFilters& wanted, FilterKind kind_of_changed,
            size_t number, FilterPlan* plan) {
  LevelFilters wanted_of_changed = wanted;
  wanted_of_changed.kind = kind_of_changed;
  double weighted_fpr = 0;
  for (const FileReport* const file : run.files) {
    Filters filters = FiltersOf(*file, wanted);
    if (IsAsPlanned(file->filter, wanted, filters.fpr)) {
      filters = {PointBytes(file->filter), file->filter.predicted_fpr};
    } else {
      filters = FiltersOf(*file, wanted_of_changed);
      plan->changes.push_back({file, number, filters.fpr, filters.num_bytes});
      plan->rewritten_bytes += file->num_bytes;
      plan->rewritten_keys += FilterKeys(*file);
    }
    plan->filter_bytes += filters.num_bytes;
    weighted_fpr += filters.fpr * static_cast<double>(FilterKeys(*file));
  }
  const auto num_keys = static_cast<double>(run.num_keys);
  plan->fprs.push_back(run.num_keys == 0 ? 1 : weighted_fpr / num_keys);
}

FilterPlan MakePlan(const PlannedTree& tree, FilterSetting setting,
                    const std::vector<double>& target_fprs) {
  assert(std::any_of(tree.runs.begin(), tree.runs.end(),
                     [](const SortedRun& run) { return run.num_keys != 0; }));
  FilterPlan plan;
  plan.setting = std::move(setting);
  for (const auto& level_runs : ByLevel(tree.runs)) {
    const int level = level_runs.front().level;
    const FilterKind kind = tree.kind.value_or(KindOf(level_runs.front()));
    plan.levels.push_back({level, kind, target_fprs[plan.levels.size()]});
    const FilterKind kind_of_changed =
        tree.by_rewriting ? tree.kind.value_or(FilterKind::kRibbon) : kind;
    for (const SortedRun& run : level_runs) {
      AddRun(run, plan.levels.back(), kind_of_changed, plan.fprs.size(), &plan);
    }
  }
  return plan;
}

FilterPlan PlanForOneRateOf(const PlannedTree& tree, double target_fpr) {
  return MakePlan(tree, {"target_fpr", target_fpr},
                  std::vector<double>(ByLevel(tree.runs).size(), target_fpr));
}

// As LevelRates of the policy sees a tree without level 0: the file that will come has a quarter of
// the keys of the smallest level.
RunGroup ExpectedLevel0(const std::vector<RunGroup>& groups) {
  constexpr double kRunsPerLevel1 = 4;
  double smallest = 0;
  for (const RunGroup& group : groups) {
    const double keys = group.keys_per_run;
    if (keys > 0 && (smallest == 0 || keys < smallest)) smallest = keys;
  }
  return {
      .num_runs = 1, .keys_per_run = smallest / kRunsPerLevel1, .kind = FilterKind::kBlockedBloom};
}

// With the rates that the policy will choose.
Result<FilterPlan> PlanForGoal(const PlannedTree& tree, FilterSetting setting,
                               const RateGoal& goal) {
  std::vector<RunGroup> groups = GroupsOf(tree.runs, tree.shares);
  const bool adds_level0 =
      tree.engine != nullptr && tree.engine->AllotsEmptyLevel0() && tree.runs.front().level > 0;
  if (adds_level0) groups.insert(groups.begin(), ExpectedLevel0(groups));
  for (RunGroup& group : groups) group.kind = tree.kind.value_or(group.kind);
  Result<RateAllocation> allocation = goal.wasted_reads
                                          ? AllocateForWastedReads(groups, *goal.wasted_reads)
                                          : AllocateForBitsPerKey(groups, *goal.bits_per_key);
  if (!allocation.ok()) return allocation.status();
  std::vector<double>& rates = allocation->target_fprs;
  if (tree.engine != nullptr) {
    for (size_t i = 0; i < rates.size(); ++i) {
      rates[i] =
          std::max(rates[i], tree.engine->LeastRate(groups[i].kind, allocation->wasted_reads));
    }
  }
  if (adds_level0) rates.erase(rates.begin());
  return MakePlan(tree, std::move(setting), rates);
}

Status TooLittle(uint64_t filter_bytes, uint64_t least_bytes) {
  return Status::InvalidArgument(fmt::format("{} bytes are too few for any filter; the least is {}",
                                             filter_bytes, least_bytes));
}

}  // namespace

Result<FilterPlan> PlanForBitsPerKey(const PlannedTree& tree, double bits_per_key) {
  return PlanForGoal(tree, {"bits_per_key", bits_per_key}, {.bits_per_key = bits_per_key});
}

Result<FilterPlan> PlanForWastedReads(const PlannedTree& tree, double wasted_reads) {
  const double rounded = std::max(RoundDown(wasted_reads), kMinWastedReads);
  return PlanForGoal(tree, {"wasted_reads", rounded}, {.wasted_reads = rounded});
}

Result<FilterPlan> PlanForSameReads(const PlannedTree& tree, const RunCoverage& coverage,
                                    double wasted_reads) {
  double low = std::log(wasted_reads);
  double high = std::log(kMaxWastedReads);
  Result<FilterPlan> best = PlanForWastedReads(tree, wasted_reads);
  for (int i = 0; i < kHalvings && best.ok(); ++i) {
    const double middle = (low + high) / 2;
    Result<FilterPlan> plan = PlanForWastedReads(tree, std::exp(middle));
    if (plan.ok() && WastedReads(coverage, plan->fprs, 1) <= wasted_reads) {
      best = std::move(plan);
      low = middle;
    } else {
      high = middle;
    }
  }
  return best;
}

Result<FilterPlan> PlanForMemory(const PlannedTree& tree, uint64_t filter_bytes) {
  // Footers and lines that are not full come on top of what is allocated, so search for the most
  // hundredths of a bit whose filters fit.
  int least = static_cast<int>(kMinAllocatedBitsPerKey * kBitsSteps);
  int most = static_cast<int>(kMaxAllocatedBitsPerKey * kBitsSteps);
  std::optional<FilterPlan> best;
  uint64_t too_many_bytes = 0;
  while (least <= most) {
    const int middle = (least + most) / 2;
    Result<FilterPlan> plan = PlanForBitsPerKey(tree, middle / kBitsSteps);
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

namespace {

// The plan of one rate for which `is_allowed` begins to hold, from the low rates on if it holds for
// high ones, and the other way round. Nothing if it holds for none.
struct RateSearch {
  std::optional<FilterPlan> best;
  std::optional<FilterPlan> refused;  // the last one
};

RateSearch SearchRate(const PlannedTree& tree, bool wants_low_rate,
                      const std::function<bool(const FilterPlan&)>& is_allowed) {
  double low = std::log(kMinTargetFpr);
  double high = std::log(kMaxTargetFpr);
  RateSearch search;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    // Rounded before it is tried, so that the rounded rate is the one that fits.
    const double target = std::stod(fmt::format("{:.3g}", std::exp(middle)));
    FilterPlan plan = PlanForOneRateOf(tree, target);
    const bool allowed = is_allowed(plan);
    (allowed == wants_low_rate ? high : low) = middle;
    (allowed ? search.best : search.refused) = std::move(plan);
  }
  return search;
}

}  // namespace

Result<FilterPlan> PlanForOneRate(const PlannedTree& tree, uint64_t filter_bytes) {
  RateSearch search = SearchRate(tree, /*wants_low_rate=*/true, [&](const FilterPlan& plan) {
    return plan.filter_bytes <= filter_bytes;
  });
  if (search.best) return *std::move(search.best);
  return TooLittle(filter_bytes, search.refused->filter_bytes);
}

Result<FilterPlan> PlanForOneRateOfReads(const PlannedTree& tree, const RunCoverage& coverage,
                                         double wasted_reads) {
  RateSearch search = SearchRate(tree, /*wants_low_rate=*/false, [&](const FilterPlan& plan) {
    return WastedReads(coverage, plan.fprs, 1) <= wasted_reads;
  });
  if (search.best) return *std::move(search.best);
  return Status::InvalidArgument(
      fmt::format("no filters of one rate waste as few as {:.3g} reads", wasted_reads));
}

Result<FilterPlan> PlanForAsked(const PlannedTree& tree, const AskedRates& asked) {
  if (asked.wasted_reads) {
    return PlanForGoal(tree, {"wasted_reads", *asked.wasted_reads},
                       {.wasted_reads = asked.wasted_reads});
  }
  if (asked.bits_per_key) return PlanForBitsPerKey(tree, *asked.bits_per_key);
  return PlanForOneRateOf(tree, asked.target_fpr);
}

}  // namespace blocksieve::cli
