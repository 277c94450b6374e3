// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/rewrite_plan.h"

#include <algorithm>
#include <utility>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

// The files and their trees, and a plan for each that changes nothing.
RewritePlan ReadFiles(const Target& target) {
  TargetFiles files = FindFiles(target);
  RewritePlan plan;
  plan.files = files.ReadReports("looking at filters");
  files.FailIfUnopened();
  plan.trees = rocksdb_plugin::TreesOf(plan.files);
  plan.plans.resize(plan.trees.size());
  return plan;
}

// Adds the plan of a tree, if it changes something. `new_parts` as in FileToRewrite.
void AddPlan(size_t tree, FilterPlan&& of_tree, const std::string& new_parts, RewritePlan* plan) {
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
                               .current = Predict({&current, 1}, 1)});
}

// Whether `revert` rewrites the file: it has a blocksieve filter, or none since a process wrote it
// that lacked the plug-in.
bool IsToRevert(const FileReport& file, bool had_policy) {
  const bool lost_filter = file.filter.origin == FilterOrigin::kNone &&
                           file.filter.policy.empty() && file.num_entries != 0;
  return file.filter.origin == FilterOrigin::kBlocksieve || (had_policy && lost_filter);
}

}  // namespace

RewritePlan PlanRewrite(const Target& target, const RewriteFiltersOptions& options) {
  RewritePlan plan = ReadFiles(target);
  const RequestedRatesByFamily requested = ReadRequestedRates(target);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const auto policy = requested.find(tree.name());
    if (policy == requested.end() && (target.family || requested.empty())) {
      term::Fail(
          "the OPTIONS file of database {} has no blocksieve policy{}; set one with blocksieve "
          "apply",
          target.path, target.family ? " for column family " + *target.family : "");
    }
    if (policy == requested.end() || tree.num_keys() == 0) continue;
    Result<FilterPlan> planned = rocksdb_plugin::PlanRewrites(
        plan.files, tree, policy->second, options, KeysInFiles("looking at keys"));
    if (!planned.ok()) term::Fail("column family {}: {}", tree.name(), planned.status().message());
    AddPlan(i, *std::move(planned), rocksdb_plugin::PartsText(policy->second), &plan);
    if (plan.plans[i].changes.empty()) continue;
    plan.predictions.back().projected = Predict({&tree, 1}, {&plan.plans[i], 1}, 1);
  }
  return plan;
}

RewritePlan PlanRevert(const Target& target, const RewriteFiltersOptions& options,
                       const OptionsText& stock) {
  RewritePlan plan = ReadFiles(target);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const auto policy = rocksdb_plugin::Judge(
        stock.Find(OptionsSection::Table(tree.name()), "filter_policy").value_or("nullptr"));
    if (policy.kind == rocksdb_plugin::PolicyEffect::kForeign || tree.num_keys() == 0) continue;
    const bool had_policy = policy.builds() && HadPolicy(target, tree.name());
    std::vector<FilterChange> changes;
    for (size_t number = 0; number < tree.files().size(); ++number) {
      const TreeFile& of_tree = tree.files()[number];
      const FileReport& file = plan.files[of_tree.id];
      if (!IsToRevert(file, had_policy) || !rocksdb_plugin::IsChosen(options, file)) continue;
      changes.push_back({number, file.filter.predicted_fpr, of_tree.filter_bytes});
    }
    AddPlan(i, PlanChanges(tree, std::move(changes)), "", &plan);
  }
  return plan;
}

}  // namespace blocksieve::cli
