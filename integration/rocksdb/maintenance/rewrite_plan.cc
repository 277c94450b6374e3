#include "integration/rocksdb/maintenance/rewrite_plan.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// When a file is worth rewriting. Plans change a little with every compaction: the rates of a level
// depend on its keys, and lookup shares are estimates. A file that was just rewritten must not
// qualify again because of that.

// A filter gains if the planned one saves kMinGain of reads or memory, as a verdict of advise must.
bool Gains(const FilterChange& change) {
  const FilterReport& now = change.file->filter;
  return change.fpr < (1 - kMinGain) * now.predicted_fpr ||
         static_cast<double>(change.filter_bytes) <
             (1 - kMinGain) * static_cast<double>(PointBytes(now));
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
// planned one costs 5 % more; other kinds, and files without filters, far more.
bool GainsOnBalance(const FilterChange& change) {
  const FilterReport& now = change.file->filter;
  if (change.filter_bytes == 0) return true;  // the plan has no filter
  const double cost = -std::log(change.fpr);
  const double bytes = Ratio(PointBytes(now), change.filter_bytes);
  return now.predicted_fpr / change.fpr + cost * bytes > 1 + cost + kMinGain;
}

// Whether the file has other range filters or prefixes than it would get now. A file may lack a
// part because its keys give none: it must not qualify again, so its keys decide.
bool ChangesParts(const FileReport& file, const FilterPolicyOptions& requested,
                  const KeysOfFile& keys_of_file) {
  const FilterReport& filter = file.filter;
  if (filter.origin != FilterOrigin::kBlocksieve) return false;
  const bool has_ranges = filter.ranges.num_filters != 0;
  const bool has_prefixes = filter.prefixes.num_filters != 0;
  if ((has_ranges && !requested.ranges) || (has_prefixes && requested.prefixes.empty()))
    return true;
  if (has_prefixes && requested.prefixes != "auto" &&
      filter.prefix_rules != std::vector{requested.prefixes}) {
    return true;
  }
  const bool lacks_ranges = requested.ranges && !has_ranges;
  const bool lacks_prefixes = !requested.prefixes.empty() && !has_prefixes;
  if (!filter.has_range_extractor) return lacks_ranges || lacks_prefixes;
  if (!lacks_ranges && !lacks_prefixes) return false;
  SeekSample sample(requested.prefixes, FilterOptions().target_fpr);
  sample.AddFile(file, keys_of_file, /*max_keys=*/UINT64_MAX);
  const RunSeeks built = sample.ScaleTo(file.num_entries);
  // `auto` chooses for each partition, and partitions may end elsewhere: most keys decide.
  return (lacks_ranges && built.ranges.num_bytes != 0) ||
         (lacks_prefixes && built.prefixes.fpr < 0.5);
}

std::string PartsText(const FilterPolicyOptions& requested) {
  std::string text = requested.prefixes.empty() ? "" : "prefixes=" + requested.prefixes;
  if (requested.ranges) text += text.empty() ? "ranges=true" : ";ranges=true";
  return text.empty() ? "none" : text;
}

// Files whose key filters, range filters or prefixes would change. REQUIRES: list has keys.
Result<std::vector<FilterChange>> ChangesTo(const FilterPolicyOptions& requested,
                                            const RunList& list,
                                            const std::set<const FileReport*>& other_parts) {
  Result<FilterPlan> plan =
      PlanForGoal({.list = list,
                   .kind = FixedKind(requested.kind),
                   .has_prefixes = !requested.prefixes.empty(),
                   .shares_bits = requested.bits_per_key && !requested.prefixes.empty(),
                   .by_rewriting = true},
                  GoalOf(requested));
  if (!plan.ok()) return plan.status();
  std::vector<FilterChange> changes = std::move(plan->changes);
  std::set<const FileReport*> added = other_parts;
  for (const FilterChange& change : changes) added.erase(change.file);
  for (size_t run = 0; run < list.runs.size(); ++run) {
    for (const FileReport* const file : list.runs[run].files) {
      if (!added.contains(file)) continue;
      changes.push_back({file, run, file->filter.predicted_fpr, PointBytes(file->filter)});
    }
  }
  return changes;
}

}  // namespace

FamilyPlanner::FamilyPlanner(const RunList& list)
    : list_(list), shares_(list.tree.LookupShares()), bytes_(list.filter_bytes()) {
  for (const SortedRun& run : list.runs) fprs_.push_back(run.fpr);
  prediction_.family = list.family;
  prediction_.num_keys = list.num_keys();
  prediction_.current = PredictionOf(fprs_, bytes_);
}

void FamilyPlanner::Add(const FilterChange& change, std::vector<FileToRewrite>* rewrites) {
  const double saved_rate = SavedRate(change);
  const uint64_t current_bytes = PointBytes(change.file->filter);
  fprs_[change.run] -= saved_rate;
  bytes_ += change.filter_bytes - current_bytes;
  rewrites->push_back({change.file->place, change.file->num_bytes, shares_[change.run] * saved_rate,
                       static_cast<int64_t>(current_bytes - change.filter_bytes)});
}

bool FamilyPlanner::GainsByAll(const std::vector<FilterChange>& changes) const {
  FamilyPlanner planner = *this;
  std::vector<FileToRewrite> rewrites;
  for (const FilterChange& change : changes) planner.Add(change, &rewrites);
  const Prediction& current = prediction_.current;
  const Prediction after = planner.Finish().projected;
  return after.wasted_reads < (1 - kMinGain) * current.wasted_reads ||
         static_cast<double>(after.filter_bytes) <
             (1 - kMinGain) * static_cast<double>(current.filter_bytes);
}

FamilyPrediction FamilyPlanner::Finish() {
  prediction_.projected = PredictionOf(fprs_, bytes_);
  return prediction_;
}

double FamilyPlanner::SavedRate(const FilterChange& change) const {
  const SortedRun& run = list_.runs[change.run];
  return Ratio(FilterKeys(*change.file), run.num_keys) *
         (change.file->filter.predicted_fpr - change.fpr);
}

Prediction FamilyPlanner::PredictionOf(const std::vector<double>& fprs,
                                       uint64_t filter_bytes) const {
  const double reads = list_.tree.WastedReads(fprs, 1);
  return {.wasted_reads_absent = reads, .wasted_reads = reads, .filter_bytes = filter_bytes};
}

Result<FamilyPlan> PlanFamily(const RunList& list, const FilterPolicyOptions& policy,
                              const RewriteFiltersOptions& options,
                              const KeysOfFile& keys_of_file) {
  FamilyPlanner planner(list);
  std::set<const FileReport*> other_parts;
  for (const SortedRun& run : list.runs) {
    for (const FileReport* const file : run.files) {
      if (IsChosen(options, *file) && ChangesParts(*file, policy, keys_of_file)) {
        other_parts.insert(file);
      }
    }
  }
  Result<std::vector<FilterChange>> changes = ChangesTo(policy, list, other_parts);
  if (!changes.ok()) return changes.status();
  std::erase_if(*changes, [&](const auto& change) { return !IsChosen(options, *change.file); });
  const bool counts_small_ones = !GoalOf(policy).differs_by_run() || planner.GainsByAll(*changes);
  FamilyPlan plan;
  for (const FilterChange& change : *changes) {
    const bool changes_parts = other_parts.contains(change.file);
    const bool gains = Gains(change) && (counts_small_ones || GainsOnBalance(change));
    if (!gains && !changes_parts) continue;
    planner.Add(change, &plan.rewrites);
    if (changes_parts) plan.rewrites.back().new_parts = PartsText(policy);
  }
  plan.prediction = planner.Finish();
  SortBySavings(&plan.rewrites);
  return plan;
}

bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file) {
  return (!options.level || file.place.level == static_cast<int>(*options.level)) &&
         (!options.only_unfiltered || file.filter.predicted_fpr >= 1);
}

void SortBySavings(std::vector<FileToRewrite>* rewrites) {
  std::stable_sort(rewrites->begin(), rewrites->end(), [](const auto& a, const auto& b) {
    const double a_reads = std::max(a.saved_reads, 0.0);
    const double b_reads = std::max(b.saved_reads, 0.0);
    return a_reads != b_reads ? a_reads > b_reads : a.saved_bytes > b.saved_bytes;
  });
}

}  // namespace blocksieve::rocksdb_plugin
