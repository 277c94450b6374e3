#include "integration/cli/maintenance/rewrite_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "integration/cli/advise/range_advice.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/stock_outcome.h"
#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

RewritePlan ReadFiles(const RewriteRequest& request) {
  ChosenFiles chosen = FindFiles({.db = request.database, .file = "", .family = request.family});
  RewritePlan plan;
  ChosenFiles::Missed missed;
  plan.files = chosen.ReadReports("looking at filters", &missed);
  if (!missed.unopened.empty()) term::Fail("{}", fmt::join(missed.unopened, "\n"));
  plan.lists = SortIntoRuns(plan.files);
  return plan;
}

bool IsOnLevel(const RewriteRequest& request, const FileReport& file) {
  const auto& level = request.files.level;
  return !level || file.place.level == static_cast<int>(*level);
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
    Result<FamilyPlan> of_list =
        PlanFamily(list, of_family->second, request.files, KeysInFiles("looking at keys"));
    if (!of_list.ok()) term::Fail("column family {}: {}", list.family, of_list.status().message());
    plan.predictions.push_back(std::move(of_list->prediction));
    std::move(of_list->rewrites.begin(), of_list->rewrites.end(),
              std::back_inserter(plan.rewrites));
  }
  SortBySavings(&plan.rewrites);
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
        if (!IsToRevert(*file, had_policy)) continue;
        if (!IsOnLevel(request, *file)) continue;
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
