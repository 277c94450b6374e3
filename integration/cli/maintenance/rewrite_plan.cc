#include "integration/cli/maintenance/rewrite_plan.h"

#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/maintenance/rewrite_plan.h"

namespace blocksieve::cli {
namespace {

// The files and their trees, and a plan for each that changes nothing.
RewritePlan ReadFiles(const RewriteRequest& request) {
  ChosenFiles chosen = FindFiles({.db = request.database, .file = "", .family = request.family});
  RewritePlan plan;
  ChosenFiles::Missed missed;
  plan.files = chosen.ReadReports("looking at filters", &missed);
  missed.FailIfUnopened();
  plan.trees = rocksdb_plugin::TreesOf(plan.files);
  plan.plans.resize(plan.trees.size());
  return plan;
}

// Adds the plan of a tree, if it changes something. `new_parts` as in FileToRewrite.
void AddPlan(size_t tree, FilterPlan&& of_tree, const std::string& new_parts, bool is_known,
             RewritePlan* plan) {
  if (of_tree.changes.empty()) return;
  const Tree& current = plan->trees[tree];
  FilterPlan& changed = plan->plans[tree] = std::move(of_tree);
  for (FileToRewrite& file : rocksdb_plugin::FilesToRewrite(plan->files, current, changed)) {
    if (file.change.changes_parts) file.new_parts = new_parts;
    plan->rewrites.push_back(std::move(file));
  }
  std::ranges::stable_sort(plan->rewrites, FilterChange::SavesMore, &FileToRewrite::change);
  plan->predictions.push_back({.family = current.name(),
                               .num_keys = current.num_keys(),
                               .current = Predict({&current, 1}, 1),
                               .projected = Predict({&current, 1}, {&changed, 1}, 1),
                               .is_known = is_known});
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

  /// Sets rate and size: as many filters as the file has now, with as many keys. Returns false,
  /// with nothing set, if this program does not have the policy.
  bool Predict(const FileReport& file, FilterChange* change) {
    if (!is_known_) return false;
    const uint64_t keys = rocksdb_plugin::FilterKeys(file);
    change->fpr = 1;
    change->filter_bytes = 0;
    if (policy_ == nullptr || keys == 0) return true;
    const uint64_t num_filters = std::clamp<uint64_t>(file.filter.num_filters, 1, keys);
    const uint64_t built_keys = std::min(keys / num_filters, kMaxKeys);
    const auto [built, is_new] = built_.try_emplace({file.place.level, built_keys});
    if (is_new) built->second = Build(file.place.level, built_keys);
    change->fpr = built->second.predicted_fpr;
    change->filter_bytes = static_cast<uint64_t>(term::Ratio(keys, built_keys) *
                                                 static_cast<double>(built->second.num_bytes));
    return true;
  }

 private:
  FilterReport Build(int level, uint64_t num_keys) const {
    FilterReport report;
    rocksdb::FilterBuildingContext context(table_);
    context.level_at_creation = level;
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(context));
    if (builder == nullptr) return report;
    for (uint64_t key = 0; key < num_keys; ++key) builder->AddKey(std::to_string(key));
    std::unique_ptr<const char[]> memory;
    const std::string contents = builder->Finish(&memory).ToString();
    DescribeFilters({contents}, num_keys, &report);
    return report;
  }

  rocksdb::BlockBasedTableOptions table_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  bool is_known_ = false;
  std::map<std::pair<int, uint64_t>, FilterReport> built_;  // by level and keys
};

}  // namespace

RewritePlan PlanRewrite(const RewriteRequest& request) {
  RewritePlan plan = ReadFiles(request);
  const RequestedRatesByFamily requested = ReadRequestedRates(request.database);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const auto policy = requested.find(tree.name());
    if (policy == requested.end() && (request.family || requested.empty())) {
      term::Fail(
          "the OPTIONS file of database {} has no blocksieve policy{}; set one with blocksieve "
          "apply",
          request.database.path, request.family ? " for column family " + *request.family : "");
    }
    if (policy == requested.end() || tree.num_keys() == 0) continue;
    Result<FilterPlan> planned = rocksdb_plugin::PlanRewrites(
        plan.files, tree, policy->second, request.files, KeysInFiles("looking at keys"));
    if (!planned.ok()) term::Fail("column family {}: {}", tree.name(), planned.status().message());
    AddPlan(i, *std::move(planned), rocksdb_plugin::PartsText(policy->second), true, &plan);
  }
  return plan;
}

RewritePlan PlanRevert(const RewriteRequest& request, const OptionsText& stock) {
  RewritePlan plan = ReadFiles(request);
  const StoredDatabase stored = ReadStored(request.database);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    if (tree.num_keys() == 0) continue;
    const auto policy = stock.Find(OptionsSection::Table(tree.name()), "filter_policy");
    StockOutcome outcome(stored.Find(tree.name()), policy.value_or("nullptr"));
    const bool had_policy = HadPolicy(request.database, tree.name());
    bool is_known = true;
    std::vector<FilterChange> changes;
    for (size_t number = 0; number < tree.files().size(); ++number) {
      const FileReport& file = plan.files[tree.files()[number].id];
      if (!IsToRevert(file, had_policy) || !rocksdb_plugin::IsChosen(request.files, file)) continue;
      FilterChange change{number, file.filter.predicted_fpr, tree.files()[number].filter_bytes};
      is_known = outcome.Predict(file, &change) && is_known;
      const bool stays = file.filter.origin == FilterOrigin::kNone && change.fpr >= 1;
      if (!stays || !is_known) changes.push_back(change);
    }
    AddPlan(i, PlanChanges(tree, std::move(changes)), "", is_known, &plan);
  }
  return plan;
}

}  // namespace blocksieve::cli
