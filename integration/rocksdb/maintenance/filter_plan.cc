#include "integration/rocksdb/maintenance/filter_plan.h"

#include <algorithm>
#include <cmath>

#include "blocksieve/sizing.h"
#include "lib/filter/block_sizing.h"
#include "lib/lsm/level_rules.h"

namespace blocksieve::rocksdb_plugin {
namespace {

struct PlannedFilters {
  uint64_t num_bytes = 0;
  double fpr = 1;
};

PlannedFilters FiltersOf(const FileReport& file, const LevelFilters& wanted, bool shares_bits) {
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
    const double share = Ratio(keys, keys + hashes);
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
    PlannedFilters filters = FiltersOf(*file, wanted, shares_bits);
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

}  // namespace

Result<FilterPlan> PlanForGoal(const PlannedTree& tree, const RateGoal& goal) {
  const lsm::Levels levels = tree.list.Levels(tree.kind);
  const Result<TreeRates> rates = AllocateByLevel(levels, goal, tree.has_prefixes);
  if (!rates.ok()) return rates.status();
  FilterPlan plan;
  plan.goal = goal;
  plan.is_reached = rates->is_reached;
  for (const auto& runs : ByLevel(tree.list.runs)) {
    const int level = runs.front().level;
    const auto number = static_cast<size_t>(std::max(level, 0));
    plan.levels.push_back({level, levels[number].kind, rates->levels[number].target_fpr});
    const FilterKind kind_of_changed =
        tree.by_rewriting ? tree.kind.value_or(lsm::AutoKind(/*is_short_lived=*/false))
                          : levels[number].kind;
    for (const SortedRun& run : runs) {
      AddRun(run, plan.levels.back(), kind_of_changed, tree.shares_bits, plan.fprs.size(), &plan);
    }
  }
  return plan;
}

}  // namespace blocksieve::rocksdb_plugin
