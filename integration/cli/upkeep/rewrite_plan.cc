#include "integration/cli/upkeep/rewrite_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/files/file_choice.h"
#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

// A filter gains if its rate falls, or its size, by this share.
constexpr double kLeastGain = 0.05;

bool RulesOut(const FilterReport& filter) { return filter.predicted_fpr < 1; }

uint64_t PointBytes(const FilterReport& filter) { return filter.num_bytes - filter.range_bytes; }

bool IsChosen(const RewriteQuestion& question, const FileReport& file) {
  return (!question.level || file.place.level == static_cast<int>(*question.level)) &&
         (!question.only_without || !RulesOut(file.filter));
}

bool Gains(const FilterChange& change) {
  const FilterReport& now = change.file->filter;
  return change.fpr < (1 - kLeastGain) * now.predicted_fpr ||
         static_cast<double>(change.filter_bytes) <
             (1 - kLeastGain) * static_cast<double>(PointBytes(now));
}

/// What becomes of a column family if some of its files change.
class FamilyPlanner {
 public:
  FamilyPlanner(const RewriteQuestion& question, const RunList& list, const Engine& engine)
      : question_(question), list_(list) {
    coverage_ = CoverageOf(list.runs, ShareBeforeIn(engine));
    shares_ = SharesOf(coverage_, list.runs.size());
    for (const SortedRun& run : list.runs) fprs_.push_back(run.fpr);
    outlook_.family = list.family;
    outlook_.bytes = outlook_.bytes_today = list.filter_bytes();
    outlook_.reads_today = WastedReads(coverage_, fprs_, 1);
  }

  void Add(const FilterChange& change, std::vector<FileToRewrite>* rewrites) {
    if (!IsChosen(question_, *change.file)) return;
    const SortedRun& run = list_.runs[change.run];
    const double share = run.num_keys == 0 ? 0
                                           : static_cast<double>(FilterKeys(*change.file)) /
                                                 static_cast<double>(run.num_keys);
    const double saved_rate = share * (change.file->filter.predicted_fpr - change.fpr);
    const uint64_t bytes_today = PointBytes(change.file->filter);
    fprs_[change.run] -= saved_rate;
    outlook_.bytes += change.filter_bytes - bytes_today;
    rewrites->push_back({change.file->place, change.file->num_bytes,
                         shares_[change.run] * saved_rate,
                         static_cast<int64_t>(bytes_today - change.filter_bytes)});
  }

  std::vector<double> KnownTo(const Engine& engine) const {
    return KnownShares(coverage_, list_.runs.size(), engine.LeastShareOfLookups());
  }

  FamilyOutlook Outlook() {
    outlook_.reads = WastedReads(coverage_, fprs_, 1);
    return outlook_;
  }

 private:
  const RewriteQuestion& question_;
  const RunList& list_;
  RunCoverage coverage_;
  std::vector<double> shares_;
  std::vector<double> fprs_;
  FamilyOutlook outlook_;
};

// REQUIRES: there are keys.
std::vector<FilterChange> ChangesTo(const AskedRates& asked, const RunList& list,
                                    const std::vector<double>& shares, const Engine& engine) {
  Result<FilterPlan> plan = PlanForAsked({.runs = list.runs,
                                          .allots_empty_level0 = engine.AllotsEmptyLevel0(),
                                          .kind = asked.kind,
                                          .shares = shares},
                                         asked);
  if (!plan.ok()) term::Fail("column family {}: {}", list.family, plan.status().message());
  std::erase_if(plan->changes, [](const FilterChange& change) { return !Gains(change); });
  return std::move(plan->changes);
}

RewritePlan ReadFiles(const RewriteQuestion& question, const Engine** engine) {
  ChosenFiles chosen =
      FindFiles({.db = question.database, .file = "", .engine = "", .family = question.family});
  *engine = chosen.engine;
  RewritePlan plan;
  ChosenFiles::Missed missed;
  plan.files = chosen.ReadReports("looking at filters", &missed);
  if (!missed.unopened.empty()) term::Fail("{}", fmt::join(missed.unopened, "\n"));
  plan.lists = SortIntoRuns(plan.files);
  return plan;
}

void Sort(std::vector<FileToRewrite>* rewrites) {
  std::stable_sort(rewrites->begin(), rewrites->end(), [](const auto& a, const auto& b) {
    const double a_reads = std::max(a.saved_reads, 0.0);
    const double b_reads = std::max(b.saved_reads, 0.0);
    return a_reads != b_reads ? a_reads > b_reads : a.saved_bytes > b.saved_bytes;
  });
}

}  // namespace

RewritePlan PlanRewrite(const RewriteQuestion& question) {
  const Engine* engine = nullptr;
  RewritePlan plan = ReadFiles(question, &engine);
  const AskedRatesByFamily asked = engine->RatesAskedFor(question.database);
  for (const RunList& list : plan.lists) {
    const auto of_family = asked.find(list.family);
    if (of_family == asked.end() && (question.family || asked.empty())) {
      term::Fail(
          "the options of database {} name no filters of blocksieve{}; blocksieve apply "
          "writes them",
          question.database, question.family ? " for column family " + *question.family : "");
    }
    plan.shares.emplace_back();
    if (of_family == asked.end() || list.num_keys() == 0) continue;
    FamilyPlanner planner(question, list, *engine);
    const std::vector<double>& shares = plan.shares.back() = planner.KnownTo(*engine);
    for (const FilterChange& change : ChangesTo(of_family->second, list, shares, *engine)) {
      planner.Add(change, &plan.rewrites);
    }
    plan.outlooks.push_back(planner.Outlook());
  }
  Sort(&plan.rewrites);
  return plan;
}

RewritePlan PlanRevert(const RewriteQuestion& question) {
  const Engine* engine = nullptr;
  RewritePlan plan = ReadFiles(question, &engine);
  for (const RunList& list : plan.lists) {
    plan.shares.emplace_back();  // stock filters have one rate
    FamilyPlanner planner(question, list, *engine);
    for (size_t i = 0; i < list.runs.size(); ++i) {
      for (const FileReport* const file : list.runs[i].files) {
        if (file->filter.origin != FilterOrigin::kBlocksieve) continue;
        // Stock filters are as the program's options have them; nothing is promised of them.
        planner.Add({.file = file,
                     .run = i,
                     .fpr = file->filter.predicted_fpr,
                     .filter_bytes = PointBytes(file->filter)},
                    &plan.rewrites);
      }
    }
    if (list.num_keys() != 0) plan.outlooks.push_back(planner.Outlook());
  }
  return plan;
}

uint64_t FilterBytesOf(const std::string& database, const std::string& family) {
  const Engine* engine = nullptr;
  uint64_t sum = 0;
  const RewritePlan plan = ReadFiles({.database = database, .family = family}, &engine);
  for (const RunList& list : plan.lists) sum += list.filter_bytes();
  return sum;
}

}  // namespace blocksieve::cli
