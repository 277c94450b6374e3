// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "blocksieve/sizing.h"
#include "blocksieve/tree.h"
#include "lib/base/errors.h"

// The files whose filters would change for a goal, and those that are worth rewriting.

namespace blocksieve {
namespace {

// The change to a filter for this rate.
FilterChange NewFilter(const Tree& tree, size_t number, const RateGoal& goal, FilterKind kind,
                       double target_fpr) {
  if (target_fpr > kMaxTargetFpr && target_fpr < 1) {  // on average
    FilterChange smallest = NewFilter(tree, number, goal, kind, kMaxTargetFpr);
    const double share = ShareOfFpr(target_fpr);
    smallest.fpr = 1 - share * (1 - smallest.fpr);
    smallest.filter_bytes =
        static_cast<uint64_t>(share * static_cast<double>(smallest.filter_bytes));
    return smallest;
  }
  const TreeFile& file = tree.files()[number];
  const uint64_t keys = file.num_keys;
  const Result<Layout> layout = ChooseLayout(kind, target_fpr);
  if (!layout.ok() || keys == 0) return {.file = number};  // no filter
  // The file keeps its number of filters: one per partition or granule, if it has several.
  const uint64_t num_filters = std::clamp<uint64_t>(file.num_filters, 1, keys);
  const uint64_t keys_each = keys / num_filters;
  const bool has_sections = goal.seek_fraction || goal.has_prefixes;
  const uint64_t bytes_each = BlockBytes(*layout, keys_each, has_sections);
  const uint64_t num_bytes = num_filters * bytes_each;
  const uint64_t hashes = file.num_prefix_hashes;
  if (goal.limits_memory() && goal.has_prefixes && hashes != 0) {
    const Layout shared = LayoutForBlockBytes(kind, keys_each + hashes / num_filters, bytes_each);
    const double bytes = Ratio(keys, keys + hashes) * static_cast<double>(num_bytes);
    return {number, shared.predicted_fpr, static_cast<uint64_t>(bytes)};
  }
  const double fpr = LayoutForBlockBytes(kind, keys_each, bytes_each).predicted_fpr;
  return {number, std::min(layout->predicted_fpr, fpr), num_bytes};
}

// Rates within this many bits belong to the same layout: keys do not fill lines and segments
// exactly, so the rate of a filter differs a little from that of its layout.
constexpr double kSameRateBits = 0.1;

// Filters of the planned kind whose sizes differ by this much are the same: allocators round sizes
// up to multiples of 16 bytes, and optimize_filters_for_memory fits filters to those around them,
// in steps of the smallest filter, such as the lines of Bloom filters.
uint64_t SameSizeBytes(FilterKind kind, double target_fpr) {
  constexpr uint64_t kAllocationStep = 16;
  const Result<Layout> layout = ChooseLayout(kind, target_fpr);
  const uint64_t step = layout.ok() ? PayloadBytes(*layout, 1) : 0;
  return std::max(step, kAllocationStep) + kAllocationStep;
}

bool IsAsPlanned(const Tree& tree, size_t number, const RateGoal& goal, FilterKind kind,
                 double target_fpr) {
  const TreeFile& file = tree.files()[number];
  if (file.num_keys == 0) return true;  // its filter has none of its keys
  if (target_fpr > kMaxTargetFpr) {
    if (target_fpr >= 1 || !file.has_filter) return !file.has_filter;
    const FilterChange smallest = NewFilter(tree, number, goal, kind, kMaxTargetFpr);
    return file.filter_bytes <=
           smallest.filter_bytes + SameSizeBytes(kind, kMaxTargetFpr) * file.num_filters;
  }
  FilterChange planned = NewFilter(tree, number, goal, kind, target_fpr);
  if (!file.kind) return false;
  if (*file.kind != kind) {
    // The kind of files that stay also counts at the target rate: a ribbon is smaller, and a Bloom
    // filter of few keys is below the target only because it consists of whole lines.
    const FilterKind usual = goal.kind == FilterKind::kStock ? goal.kind : FilterKind::kAuto;
    if (*file.kind != ChooseKind(usual, /*is_short_lived=*/false)) return false;
    const bool shares_bits = goal.limits_memory() && goal.has_prefixes;
    planned = NewFilter(tree, number, goal, *file.kind, target_fpr);
    if (!shares_bits) planned.fpr = target_fpr;
  }
  const auto [smaller, larger] = std::minmax(file.filter_bytes, planned.filter_bytes);
  if (larger - smaller <= SameSizeBytes(*file.kind, target_fpr) * file.num_filters) return true;
  return std::abs(std::log2(file.fpr / planned.fpr)) <= kSameRateBits;
}

bool SavesShare(uint64_t before, uint64_t after) {
  return static_cast<double>(after) < (1 - kMinGain) * static_cast<double>(before);
}

// A filter gains if the planned one saves kMinGain of reads or memory.
bool Gains(const TreeFile& file, const FilterChange& change) {
  return change.fpr < (1 - kMinGain) * file.fpr ||
         SavesShare(file.filter_bytes, change.filter_bytes);
}

// If rates are spread over levels, fewer reads for more memory are no gain in themselves, so a
// filter must also gain kMinGain with reads and memory weighed against each other.
//
// In the plan, the last byte of every filter saves the same reads. At that exchange rate, in units
// of the reads that the planned filter wastes, a filter with rate p and b bytes costs
//
//   p / p* + ln(1 / p*) × b / b*
//
// where p* and b* belong to the planned filter, which costs least. A rate of 1.36 or 0.72 times the
// planned one costs 5 % more; other kinds, and files without filters, far more. RocksDB's Ribbon
// filters are worth their bits equally at all rates between two powers of two: which one a level
// gets depends on the last bits of the budget, and the largest costs 23 % more than the smallest.
bool GainsOnBalance(const TreeFile& file, const FilterChange& change, FilterKind kind) {
  if (change.filter_bytes == 0) return true;  // the plan has no filter
  const double min_gain = kind == FilterKind::kStock ? 0.25 : kMinGain;
  const double cost = -std::log(change.fpr);
  const double bytes = Ratio(file.filter_bytes, change.filter_bytes);
  return file.fpr / change.fpr + cost * bytes > 1 + cost + min_gain;
}

// Whether all changes together save kMinGain, which makes small ones worthwhile, too.
bool GainsByAll(const Tree& tree, const std::vector<FilterChange>& changes) {
  const FilterPlan plan = PlanChanges(tree, changes);
  const Prediction before = Predict({&tree, 1}, 1);
  const Prediction after = Predict({&tree, 1}, {&plan, 1}, 1);
  return after.wasted_reads < (1 - kMinGain) * before.wasted_reads ||
         SavesShare(before.filter_bytes, after.filter_bytes);
}

Prediction PredictReads(std::span<const Tree> trees, const std::vector<double>& fprs,
                        double absent_fraction, uint64_t filter_bytes) {
  return {.wasted_reads_absent = WastedReads(trees, fprs, 1),
          .wasted_reads = WastedReads(trees, fprs, absent_fraction),
          .filter_bytes = filter_bytes};
}

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

bool FilterChange::SavesMore(const FilterChange& a, const FilterChange& b) noexcept {
  const double a_reads = std::max(a.saved_reads, 0.0);
  const double b_reads = std::max(b.saved_reads, 0.0);
  return a_reads != b_reads ? a_reads > b_reads : a.saved_bytes > b.saved_bytes;
}

FilterPlan PlanChanges(const Tree& tree, std::vector<FilterChange> changes) {
  FilterPlan plan{.changes = std::move(changes)};
  std::vector<FilterChange*> by_file(tree.files().size());
  std::erase_if(plan.changes,
                [&](const FilterChange& change) { return change.file >= by_file.size(); });
  for (FilterChange& change : plan.changes) by_file[change.file] = &change;
  for (const TreeRun& run : tree.runs()) {
    const auto num_keys = static_cast<double>(run.num_keys);
    double fpr = 0;  // times keys
    for (size_t i = run.first_file; i < run.first_file + run.num_files; ++i) {
      const TreeFile& file = tree.files()[i];
      FilterChange* const change = by_file[i];
      const auto keys = static_cast<double>(file.num_keys);
      fpr += keys * (change == nullptr ? file.fpr : change->fpr);
      plan.filter_bytes += change == nullptr ? file.filter_bytes : change->filter_bytes;
      if (change == nullptr) continue;
      plan.rewritten_bytes += file.num_bytes;
      plan.rewritten_keys += file.num_keys;
      change->saved_bytes = static_cast<int64_t>(file.filter_bytes - change->filter_bytes);
      change->saved_reads =
          keys == 0 ? 0 : run.lookup_share * keys / num_keys * (file.fpr - change->fpr);
    }
    plan.fprs.push_back(run.num_keys == 0 ? 1 : fpr / num_keys);
  }
  std::stable_sort(plan.changes.begin(), plan.changes.end(), FilterChange::SavesMore);
  return plan;
}

Result<FilterPlan> PlanFilters(const Tree& tree, const RateGoal& goal, bool in_place) try {
  std::vector<TreeLevel> levels = tree.ToLevels(goal);
  ExpectFewKeysOnLevel0(&levels);  // as builders do after the compaction that rewrites a file
  BLOCKSIEVE_ASSIGN_OR_RETURN(RatePlan rates, AllocateByLevel(levels, goal));
  std::vector<FilterChange> changes;
  for (size_t i = 0; i < tree.files().size(); ++i) {
    const auto level = static_cast<size_t>(std::max(tree.files()[i].level, 0));
    const double target_fpr = rates.levels[level].target_fpr;
    if (IsAsPlanned(tree, i, goal, levels[level].kind, target_fpr)) continue;
    const FilterKind kind =
        in_place ? ChooseKind(goal.kind, /*is_short_lived=*/false) : levels[level].kind;
    changes.push_back(NewFilter(tree, i, goal, kind, target_fpr));
  }
  FilterPlan plan = PlanChanges(tree, std::move(changes));
  plan.goal = goal;
  plan.levels = std::move(levels);
  plan.rates = std::move(rates);
  return plan;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<FilterPlan> PlanRewrites(const Tree& tree, const RateGoal& goal,
                                const FilePredicate& is_chosen,
                                const FilePredicate& changes_parts) try {
  Result<FilterPlan> all = PlanFilters(tree, goal, /*in_place=*/true);
  if (!all.ok()) return all;
  std::vector<const FilterChange*> by_file(tree.files().size());
  for (const FilterChange& change : all->changes) by_file[change.file] = &change;
  std::vector<FilterChange> changes;
  for (size_t i = 0; i < by_file.size(); ++i) {
    if (!is_chosen(i)) continue;
    const TreeFile& file = tree.files()[i];
    const bool has_other_parts = changes_parts(i);
    if (by_file[i] == nullptr && !has_other_parts) continue;
    changes.push_back(by_file[i] == nullptr ? FilterChange{i, file.fpr, file.filter_bytes}
                                            : *by_file[i]);
    changes.back().changes_parts = has_other_parts;
  }
  const bool counts_small_ones = !goal.differs_by_run() || GainsByAll(tree, changes);
  std::erase_if(changes, [&](const FilterChange& change) {
    const TreeFile& file = tree.files()[change.file];
    const bool gains =
        Gains(file, change) && (counts_small_ones || GainsOnBalance(file, change, goal.kind));
    return !gains && !change.changes_parts;
  });
  FilterPlan plan = PlanChanges(tree, std::move(changes));
  plan.goal = goal;
  plan.levels = std::move(all->levels);
  plan.rates = std::move(all->rates);
  return plan;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

double WastedReads(std::span<const Tree> trees, std::span<const double> fprs,
                   double absent_fraction) {
  uint64_t all_keys = 0;
  for (const Tree& tree : trees) all_keys += tree.num_keys();
  double reads = 0;
  for (const Tree& tree : trees) {
    const size_t num_runs = std::min(tree.runs().size(), fprs.size());
    reads +=
        Ratio(tree.num_keys(), all_keys) * tree.WastedReads(fprs.first(num_runs), absent_fraction);
    fprs = fprs.subspan(num_runs);
  }
  return reads;
}

Prediction Predict(std::span<const Tree> trees, double absent_fraction) {
  std::vector<double> fprs;
  uint64_t filter_bytes = 0;
  for (const Tree& tree : trees) {
    for (const TreeRun& run : tree.runs()) fprs.push_back(run.fpr);
    filter_bytes += tree.filter_bytes();
  }
  return PredictReads(trees, fprs, absent_fraction, filter_bytes);
}

Prediction Predict(std::span<const Tree> trees, std::span<const FilterPlan> plans,
                   double absent_fraction) {
  std::vector<double> fprs;
  uint64_t filter_bytes = 0;
  for (const FilterPlan& plan : plans) {
    fprs.insert(fprs.end(), plan.fprs.begin(), plan.fprs.end());
    filter_bytes += plan.filter_bytes;
  }
  return PredictReads(trees, fprs, absent_fraction, filter_bytes);
}

// The rules that allocate FPRs to the levels of a tree that compactions keep changing.

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
