#include "integration/cli/advise/filter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "blocksieve/sizing.h"
#include "integration/cli/term/text.h"
#include "lib/filter/block_sizing.h"
#include "lib/lsm/level_rules.h"

namespace blocksieve::cli {
namespace {

// Rounds to three digits, as values of options have.
double RoundDown(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::stod(fmt::format("{:.3g}", std::floor(value / unit * (1 + 1e-9)) * unit));
}

struct Filters {
  uint64_t num_bytes = 0;
  double fpr = 1;
};

Filters FiltersOf(const FileReport& file, const LevelFilters& wanted, bool shares_bits) {
  const uint64_t keys = FilterKeys(file);
  const Result<Layout> layout = ChooseLayout(wanted.kind, wanted.target_fpr);
  if (!layout.ok() || keys == 0) return {};  // no filter
  // The file keeps its number of filters: one per partition or granule, if it has several.
  const uint64_t num_filters = std::clamp<uint64_t>(file.filter.num_filters, 1, keys);
  const uint64_t keys_each = keys / num_filters;
  const uint64_t bytes_each = BlockBytes(*layout, keys_each);
  if (const uint64_t hashes = file.filter.num_prefix_hashes; shares_bits && hashes != 0) {
    const Layout shared =
        LayoutForBlockBytes(wanted.kind, keys_each + hashes / num_filters, bytes_each);
    const double share = term::Ratio(keys, keys + hashes);
    return {static_cast<uint64_t>(share * static_cast<double>(num_filters * bytes_each)),
            shared.predicted_fpr};
  }
  return {num_filters * bytes_each,
          std::min(layout->predicted_fpr,
                   LayoutForBlockBytes(wanted.kind, keys_each, bytes_each).predicted_fpr)};
}

// Rates within this many bits belong to the same layout: keys do not fill lines and segments
// exactly, so the rate of a filter differs a little from that of its layout.
constexpr double kSameRateBits = 0.1;

// `fpr` is that of the planned filter for the file's keys. Where a Bloom filter is planned, a
// ribbon at the target rate also counts: it is smaller, and a Bloom filter of few keys is below the
// target only because it consists of whole lines. `ribbon_fpr`: that of the ribbon.
bool IsAsPlanned(const FilterReport& filter, const LevelFilters& wanted, double fpr,
                 double ribbon_fpr) {
  if (fpr > kMaxTargetFpr) return filter.origin == FilterOrigin::kNone;
  if (filter.origin != FilterOrigin::kBlocksieve) return false;
  if (filter.kind != FilterKindName(wanted.kind)) {
    if (filter.kind != FilterKindName(FilterKind::kRibbon)) return false;
    fpr = ribbon_fpr;
  }
  return std::abs(std::log2(filter.predicted_fpr / fpr)) <= kSameRateBits;
}

// Files that match the plan stay, with their actual rate and size instead of the model's.
void AddRun(const SortedRun& run, const LevelFilters& wanted, FilterKind kind_of_changed,
            bool shares_bits, size_t number, FilterPlan* plan) {
  LevelFilters wanted_of_changed = wanted;
  wanted_of_changed.kind = kind_of_changed;
  double weighted_fpr = 0;
  for (const FileReport* const file : run.files) {
    Filters filters = FiltersOf(*file, wanted, shares_bits);
    const double ribbon_fpr =
        shares_bits
            ? FiltersOf(*file, {wanted.level, FilterKind::kRibbon, wanted.target_fpr}, true).fpr
            : wanted.target_fpr;
    if (IsAsPlanned(file->filter, wanted, filters.fpr, ribbon_fpr)) {
      filters = {PointBytes(file->filter), file->filter.predicted_fpr};
    } else {
      filters = FiltersOf(*file, wanted_of_changed, shares_bits);
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

FilterPlan MakePlan(const PlannedTree& tree, const RateGoal& goal, const lsm::Levels& levels,
                    const TreeRates& rates) {
  FilterPlan plan;
  plan.setting = FilterSetting::For(goal);
  plan.is_reached = rates.is_reached;
  for (const auto& runs : ByLevel(tree.list.runs)) {
    const int level = runs.front().level;
    const auto number = static_cast<size_t>(std::max(level, 0));
    plan.levels.push_back({level, levels[number].kind, rates.levels[number].target_fpr});
    const FilterKind kind_of_changed =
        tree.by_rewriting ? tree.kind.value_or(lsm::AutoKind(/*is_short_lived=*/false))
                          : levels[number].kind;
    for (const SortedRun& run : runs) {
      AddRun(run, plan.levels.back(), kind_of_changed, tree.shares_bits, plan.fprs.size(), &plan);
    }
  }
  return plan;
}

double ReadsOf(const Forest& forest, const FilterPlan& plan) {
  return forest.WastedReads(plan.fprs, 1);
}

void Append(const FilterPlan& plan, FilterPlan* all) {
  all->levels.insert(all->levels.end(), plan.levels.begin(), plan.levels.end());
  all->fprs.insert(all->fprs.end(), plan.fprs.begin(), plan.fprs.end());
  all->changes.insert(all->changes.end(), plan.changes.begin(), plan.changes.end());
  all->is_reached = all->is_reached && plan.is_reached;
  all->filter_bytes += plan.filter_bytes;
  all->rewritten_bytes += plan.rewritten_bytes;
  all->rewritten_keys += plan.rewritten_keys;
}

using PlanFor = std::function<Result<FilterPlan>(double value)>;
using IsAllowed = std::function<bool(const FilterPlan&)>;

/// Bisects for the last allowed value of a goal, between an allowed one and one that is not.
struct PlanSearch {
  std::optional<FilterPlan> best;     // for the last allowed value
  std::optional<FilterPlan> refused;  // for the first value that is not

  Status Run(double allowed, double not_allowed, const PlanFor& plan_for,
             const IsAllowed& is_allowed) {
    // The remaining difference is far below the three digits that are kept.
    constexpr int kHalvings = 24;
    double good = std::log(allowed);
    double bad = std::log(not_allowed);
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (good + bad) / 2;
      Result<FilterPlan> plan = plan_for(std::exp(middle));
      if (!plan.ok()) return plan.status();
      const bool is_good = is_allowed(*plan);
      (is_good ? good : bad) = middle;
      (is_good ? best : refused) = *std::move(plan);
    }
    return Status::Ok();
  }
};

// The best plan within a budget of bytes.
Result<FilterPlan> PlanWithin(uint64_t filter_bytes, double allowed, double not_allowed,
                              const PlanFor& plan_for) {
  PlanSearch search;
  const Status status = search.Run(allowed, not_allowed, plan_for, [&](const FilterPlan& plan) {
    return plan.filter_bytes <= filter_bytes;
  });
  if (!status.ok()) return status;
  if (search.best && search.best->filter_bytes > 0) return *std::move(search.best);
  return Status::InvalidArgument(fmt::format(
      "memory is {}; allowed: at least {}, the smallest filter",
      term::CountOf(filter_bytes, "byte"), term::WithCommas(search.refused->filter_bytes)));
}

// Rounds before planning, so that the rounded rate fits.
Result<FilterPlan> PlanForRoundedRate(const Forest& forest, double target_fpr) {
  return PlanForGoal(forest, {.target_fpr = std::stod(fmt::format("{:.3g}", target_fpr))});
}

}  // namespace

Result<FilterPlan> PlanForGoal(const PlannedTree& tree, const RateGoal& goal) {
  const lsm::Levels levels = tree.list.Levels(tree.kind);
  const Result<TreeRates> rates = AllocateByLevel(levels, goal, tree.has_prefixes);
  if (!rates.ok()) return rates.status();
  return MakePlan(tree, goal, levels, *rates);
}

Result<FilterPlan> PlanForGoal(const Forest& forest, const RateGoal& goal) {
  FilterPlan all;
  all.setting = FilterSetting::For(goal);
  for (const RunList& list : forest.lists) {
    const Result<FilterPlan> plan = PlanForGoal(PlannedTree{list}, goal);
    if (!plan.ok()) return plan.status();
    Append(*plan, &all);
  }
  return all;
}

// Footers and partly filled lines add to the allocated bits, so search for the highest
// bits_per_key, in hundredths, whose filters fit.
Result<FilterPlan> PlanForMemory(const Forest& forest, uint64_t filter_bytes) {
  constexpr double kSteps = 100;
  return PlanWithin(filter_bytes, kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey,
                    [&](double bits_per_key) {
                      const double rounded = std::floor(bits_per_key * kSteps) / kSteps;
                      return PlanForGoal(forest, {.bits_per_key = rounded});
                    });
}

Result<FilterPlan> PlanForWastedReads(const Forest& forest, double wasted_reads) {
  const double rounded = std::max(RoundDown(wasted_reads), kMinWastedReads);
  Result<FilterPlan> plan = PlanForGoal(forest, {.wasted_reads = rounded});
  if (!plan.ok() || plan->is_reached) return plan;
  return Status::InvalidArgument(fmt::format(
      "wasted_reads is {}, fewer than any filters of these sorted runs can reach", rounded));
}

Result<FilterPlan> PlanForSameReads(const Forest& forest, double wasted_reads) {
  Result<FilterPlan> first = PlanForWastedReads(forest, wasted_reads);
  if (!first.ok()) return first;
  PlanSearch search;
  const Status status = search.Run(
      wasted_reads, kMaxWastedReads,
      [&](double reads) { return PlanForWastedReads(forest, reads); },
      [&](const FilterPlan& plan) { return ReadsOf(forest, plan) <= wasted_reads; });
  if (!status.ok()) return status;
  return search.best ? *std::move(search.best) : first;
}

Result<FilterPlan> PlanForOneRate(const Forest& forest, uint64_t filter_bytes) {
  return PlanWithin(filter_bytes, kMaxTargetFpr, kMinTargetFpr,
                    [&](double fpr) { return PlanForRoundedRate(forest, fpr); });
}

Result<FilterPlan> PlanForOneRateOfReads(const Forest& forest, double wasted_reads) {
  PlanSearch search;
  const Status status = search.Run(
      kMinTargetFpr, kMaxTargetFpr, [&](double fpr) { return PlanForRoundedRate(forest, fpr); },
      [&](const FilterPlan& plan) { return ReadsOf(forest, plan) <= wasted_reads; });
  if (!status.ok()) return status;
  if (search.best) return *std::move(search.best);
  return Status::InvalidArgument(
      fmt::format("wasted reads are {}, fewer than filters of one rate can reach",
                  term::NumberText(wasted_reads)));
}

}  // namespace blocksieve::cli
