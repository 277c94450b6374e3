#include "integration/cli/maintenance/rewrite_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/stock_outcome.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

namespace blocksieve::cli {
namespace {

bool RulesOut(const FilterReport& filter) { return filter.predicted_fpr < 1; }

bool IsChosen(const RewriteRequest& request, const FileReport& file) {
  return (!request.level || file.place.level == static_cast<int>(*request.level)) &&
         (!request.only_unfiltered || !RulesOut(file.filter));
}

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
  const double bytes = term::Ratio(PointBytes(now), change.filter_bytes);
  return now.predicted_fpr / change.fpr + cost * bytes > 1 + cost + kMinGain;
}

// Whether the file has other range filters or prefixes than it would get now. A file may lack a
// part because its keys give none: it must not qualify again, so its keys decide.
bool ChangesParts(const FileReport& file, const RequestedRates& requested) {
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
  const RunSeeks built = SampleFile(file, requested.prefixes, KeysInFiles("looking at keys"));
  // `auto` chooses for each partition, and partitions may end elsewhere: most keys decide.
  return (lacks_ranges && built.ranges.num_bytes != 0) ||
         (lacks_prefixes && built.prefixes.fpr < 0.5);
}

std::string PartsText(const RequestedRates& requested) {
  std::string text = requested.prefixes.empty() ? "" : "prefixes=" + requested.prefixes;
  if (requested.ranges) text += text.empty() ? "ranges=true" : ";ranges=true";
  return text.empty() ? "none" : text;
}

/// Predicts a column family after some of its files change.
class FamilyPlanner {
 public:
  explicit FamilyPlanner(const RunList& list) : list_(list) {
    shares_ = list.tree.LookupShares();
    for (const SortedRun& run : list.runs) fprs_.push_back(run.fpr);
    prediction_.family = list.family;
    prediction_.num_keys = list.num_keys();
    prediction_.current = PredictionOf(fprs_, list.filter_bytes());
    bytes_ = list.filter_bytes();
  }

  void Add(const FilterChange& change, std::vector<FileToRewrite>* rewrites) {
    const double saved_rate = SavedRate(change);
    const uint64_t current_bytes = PointBytes(change.file->filter);
    fprs_[change.run] -= saved_rate;
    bytes_ += change.filter_bytes - current_bytes;
    rewrites->push_back({change.file->place, change.file->num_bytes,
                         shares_[change.run] * saved_rate,
                         static_cast<int64_t>(current_bytes - change.filter_bytes)});
  }

  /// Whether all changes together save kMinGain, which makes small ones worthwhile, too.
  bool GainsByAll(const std::vector<FilterChange>& changes) const {
    std::vector<double> fprs = fprs_;
    uint64_t bytes = bytes_;
    for (const FilterChange& change : changes) {
      fprs[change.run] -= SavedRate(change);
      bytes += change.filter_bytes - PointBytes(change.file->filter);
    }
    const Prediction& current = prediction_.current;
    return list_.tree.WastedReads(fprs, 1) < (1 - kMinGain) * current.wasted_reads ||
           static_cast<double>(bytes) < (1 - kMinGain) * static_cast<double>(current.filter_bytes);
  }

  FamilyPrediction Finish() {
    prediction_.projected = PredictionOf(fprs_, bytes_);
    return prediction_;
  }

 private:
  // The change of the run's rate.
  double SavedRate(const FilterChange& change) const {
    const SortedRun& run = list_.runs[change.run];
    return term::Ratio(FilterKeys(*change.file), run.num_keys) *
           (change.file->filter.predicted_fpr - change.fpr);
  }

  Prediction PredictionOf(const std::vector<double>& fprs, uint64_t filter_bytes) const {
    const double reads = list_.tree.WastedReads(fprs, 1);
    return {.wasted_reads_absent = reads, .wasted_reads = reads, .filter_bytes = filter_bytes};
  }

  const RunList& list_;
  std::vector<double> shares_;
  std::vector<double> fprs_;
  uint64_t bytes_ = 0;
  FamilyPrediction prediction_;
};

// Files whose key filters, range filters or prefixes would change. REQUIRES: list has keys.
std::vector<FilterChange> ChangesTo(const RequestedRates& requested, const RunList& list,
                                    const std::set<const FileReport*>& other_parts) {
  Result<FilterPlan> plan =
      PlanForGoal({.list = list,
                   .kind = requested.kind,
                   .has_prefixes = !requested.prefixes.empty(),
                   .shares_bits = requested.goal.bits_per_key && !requested.prefixes.empty(),
                   .by_rewriting = true},
                  requested.goal);
  if (!plan.ok()) term::Fail("column family {}: {}", list.family, plan.status().message());
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

RewritePlan ReadFiles(const RewriteRequest& request) {
  ChosenFiles chosen = FindFiles({.db = request.database, .file = "", .family = request.family});
  RewritePlan plan;
  ChosenFiles::Missed missed;
  plan.files = chosen.ReadReports("looking at filters", &missed);
  if (!missed.unopened.empty()) term::Fail("{}", fmt::join(missed.unopened, "\n"));
  plan.lists = SortIntoRuns(plan.files);
  return plan;
}

// Whether `revert` rewrites the file: it has a blocksieve filter, or none since a process wrote it
// that lacked the plug-in.
bool IsToRevert(const FileReport& file, bool had_policy) {
  const bool lost_filter = file.filter.origin == FilterOrigin::kNone &&
                           file.filter.policy.empty() && file.num_entries != 0;
  return file.filter.origin == FilterOrigin::kBlocksieve || (had_policy && lost_filter);
}

std::string StockPolicy(const OptionsFile& options, const std::string& family) {
  return options.Find(TableSection(family), "filter_policy").value_or("nullptr");
}

void Sort(std::vector<FileToRewrite>* rewrites) {
  std::stable_sort(rewrites->begin(), rewrites->end(), [](const auto& a, const auto& b) {
    const double a_reads = std::max(a.saved_reads, 0.0);
    const double b_reads = std::max(b.saved_reads, 0.0);
    return a_reads != b_reads ? a_reads > b_reads : a.saved_bytes > b.saved_bytes;
  });
}

}  // namespace

RewritePlan PlanRewrite(const RewriteRequest& request) {
  RewritePlan plan = ReadFiles(request);
  const RequestedRatesByFamily requested = ReadRequestedRates(request.database);
  for (RunList& list : plan.lists) {
    const auto of_family = requested.find(list.family);
    if (of_family == requested.end() && (request.family || requested.empty())) {
      term::Fail(
          "the OPTIONS file of database {} has no blocksieve policy{}; set one with blocksieve "
          "apply",
          request.database, request.family ? " for column family " + *request.family : "");
    }
    if (of_family == requested.end() || list.num_keys() == 0) continue;
    SetCoverage(ShareBeforeInFiles(), &list);
    FamilyPlanner planner(list);
    std::set<const FileReport*> other_parts;
    for (const SortedRun& run : list.runs) {
      for (const FileReport* const file : run.files) {
        if (IsChosen(request, *file) && ChangesParts(*file, of_family->second)) {
          other_parts.insert(file);
        }
      }
    }
    std::vector<FilterChange> changes = ChangesTo(of_family->second, list, other_parts);
    std::erase_if(changes, [&](const auto& change) { return !IsChosen(request, *change.file); });
    const bool counts_small_ones =
        !of_family->second.goal.differs_by_run() || planner.GainsByAll(changes);
    for (const FilterChange& change : changes) {
      const bool changes_parts = other_parts.contains(change.file);
      const bool gains = Gains(change) && (counts_small_ones || GainsOnBalance(change));
      if (!gains && !changes_parts) continue;
      planner.Add(change, &plan.rewrites);
      if (changes_parts) plan.rewrites.back().new_parts = PartsText(of_family->second);
    }
    plan.predictions.push_back(planner.Finish());
  }
  Sort(&plan.rewrites);
  const std::string why = plan.rewrites.empty() ? "" : WhyNotRewritten(request.database);
  if (!why.empty()) term::Fail("cannot rewrite database {}: {}", request.database, why);
  return plan;
}

RewritePlan PlanRevert(const RewriteRequest& request, const OptionsFile& stock) {
  RewritePlan plan = ReadFiles(request);
  for (RunList& list : plan.lists) {
    if (list.num_keys() == 0) continue;
    SetCoverage(ShareBeforeInFiles(), &list);
    StockOutcome outcome(request.database, list.family, StockPolicy(stock, list.family));
    FamilyPlanner planner(list);
    const bool had_policy = HadPolicy(request.database, list.family);
    bool is_known = true;
    for (size_t i = 0; i < list.runs.size(); ++i) {
      for (const FileReport* const file : list.runs[i].files) {
        if (!IsToRevert(*file, had_policy) || !IsChosen(request, *file)) continue;
        const auto filter = outcome.Of(*file);
        is_known = is_known && filter;
        planner.Add({.file = file,
                     .run = i,
                     .fpr = filter ? filter->fpr : file->filter.predicted_fpr,
                     .filter_bytes = filter ? filter->num_bytes : PointBytes(file->filter)},
                    &plan.rewrites);
      }
    }
    plan.predictions.push_back(planner.Finish());
    plan.predictions.back().is_known = is_known;
  }
  return plan;
}

uint64_t FilterBytesOf(const std::string& database, const std::string& family) {
  uint64_t sum = 0;
  const RewritePlan plan = ReadFiles({.database = database, .family = family});
  for (const RunList& list : plan.lists) sum += list.filter_bytes();
  return sum;
}

}  // namespace blocksieve::cli
