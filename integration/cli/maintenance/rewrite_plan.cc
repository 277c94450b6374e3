#include "integration/cli/maintenance/rewrite_plan.h"

#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "integration/cli/advise/range_advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/stock_policies.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::cli {
namespace {

RewritePlan ReadFiles(const RewriteRequest& request) {
  ChosenFiles chosen = FindFiles({.db = request.database, .file = "", .family = request.family});
  RewritePlan plan;
  ChosenFiles::Missed missed;
  plan.files = chosen.ReadReports("looking at filters", &missed);
  missed.FailIfUnopened();
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

// Larger filters have the same rate and proportional size.
constexpr uint64_t kMaxKeys = 1 << 17;

/// Predicts the filters of a stock policy for a file, by building some in memory.
class StockOutcome {
 public:
  struct Filter {
    double fpr = 1;
    uint64_t num_bytes = 0;
  };

  /// `policy` is a value of filter_policy, "nullptr" for none.
  StockOutcome(const rocksdb::ColumnFamilyOptions* family, const std::string& policy) {
    const auto* const table = family == nullptr ? nullptr : TableOptionsOf(*family);
    if (table != nullptr) table_ = *table;
    const auto verdict = rocksdb_plugin::Judge(policy);
    policy_ = verdict.policy;
    is_known_ = rocksdb_plugin::LoadedAbiProblem().empty() &&
                verdict.kind != rocksdb_plugin::PolicyEffect::kForeign &&
                verdict.kind != rocksdb_plugin::PolicyEffect::kRefused;
  }

  /// As many filters as the file has now, with as many keys. nullopt if this program does not have
  /// the policy.
  std::optional<Filter> Of(const FileReport& file) {
    if (!is_known_) return std::nullopt;
    const uint64_t keys = FilterKeys(file);
    if (policy_ == nullptr || keys == 0) return Filter();
    const uint64_t num_filters = std::clamp<uint64_t>(file.filter.num_filters, 1, keys);
    const uint64_t keys_each = keys / num_filters;
    const uint64_t built_keys = std::min(keys_each, kMaxKeys);
    const auto [built, is_new] = built_.try_emplace({file.place.level, built_keys});
    if (is_new) built->second = Build(file.place.level, built_keys);
    const double times = term::Ratio(keys, built_keys);
    return Filter{built->second.fpr,
                  static_cast<uint64_t>(times * static_cast<double>(built->second.num_bytes))};
  }

 private:
  Filter Build(int level, uint64_t num_keys) const {
    rocksdb::FilterBuildingContext context(table_);
    context.level_at_creation = level;
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(context));
    if (builder == nullptr) return {};
    for (uint64_t key = 0; key < num_keys; ++key) builder->AddKey(std::to_string(key));
    std::unique_ptr<const char[]> memory;
    const std::string contents = builder->Finish(&memory).ToString();
    FilterReport report;
    DescribeFilters({contents}, num_keys, &report);
    return {report.predicted_fpr, report.num_bytes};
  }

  rocksdb::BlockBasedTableOptions table_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  bool is_known_ = false;
  std::map<std::pair<int, uint64_t>, Filter> built_;  // by level and keys
};

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
          request.database.path, request.family ? " for column family " + *request.family : "");
    }
    if (of_family == requested.end() || list.num_keys() == 0) continue;
    SetCoverage(ShareBeforeInFiles(), &list);
    auto of_list =
        PlanFamily(list, of_family->second, request.files, KeysInFiles("looking at keys"));
    if (!of_list.ok()) term::Fail("column family {}: {}", list.family, of_list.status().message());
    plan.predictions.push_back(std::move(of_list->prediction));
    std::move(of_list->rewrites.begin(), of_list->rewrites.end(),
              std::back_inserter(plan.rewrites));
  }
  SortBySavings(&plan.rewrites);
  return plan;
}

RewritePlan PlanRevert(const RewriteRequest& request, const OptionsText& stock) {
  RewritePlan plan = ReadFiles(request);
  const StoredDatabase stored = ReadStored(request.database);
  const KeptOptions kept(request.database);
  for (RunList& list : plan.lists) {
    if (list.num_keys() == 0) continue;
    SetCoverage(ShareBeforeInFiles(), &list);
    const auto policy = stock.Find(OptionsSection::Table(list.family), kPolicy);
    StockOutcome outcome(stored.Find(list.family), policy.value_or("nullptr"));
    FamilyPlanner planner(list);
    const bool had_policy =
        kept.Find(OptionsSection::Table(list.family), kPolicy) || kept.RecordedPolicy(list.family);
    bool is_known = true;
    for (size_t i = 0; i < list.runs.size(); ++i) {
      for (const FileReport* const file : list.runs[i].files) {
        if (!IsToRevert(*file, had_policy) || !IsChosen(request.files, *file)) continue;
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

}  // namespace blocksieve::cli
