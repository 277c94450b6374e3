// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/rewrite_plan.h"

#include <rocksdb/rate_limiter.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/skip_indexes.h"

namespace blocksieve::cli {
namespace {

// The files and their trees, and a plan for each that changes nothing.
RewritePlan ReadFiles(const Target& target) {
  TargetFiles files = FindFiles(target);
  RewritePlan plan;
  plan.files = files.ReadReports("looking at filters");
  files.FailIfUnopened();
  plan.trees = rocksdb_plugin::BuildTrees(plan.files);
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

// Whether `revert` rewrites the file: it has a blocksieve filter, or none, as blocksieve left it
// out or a process wrote it that lacked the plug-in. `stock`: what will read the file.
bool IsToRevert(const FileReport& file, const rocksdb_plugin::FilterReader& stock,
                bool had_policy) {
  if (file.filter.origin == FilterOrigin::kBlocksieve) return true;
  return rocksdb_plugin::JudgeFilter(file, stock) == rocksdb_plugin::FilterState::kMissing &&
         stock.kind != rocksdb_plugin::FilterReader::Kind::kNone &&
         (had_policy || file.filter.policy == rocksdb_plugin::Policy::kName);
}

// Cancels what runs. A compaction that waits for the rate limiter does not notice it.
void Stop(const GuardedDb& db) {
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  db->DisableManualCompaction();
  const auto limiter = db->GetDBOptions().rate_limiter;
  if (limiter != nullptr) limiter->SetBytesPerSecond(kNoLimit);
}

}  // namespace

RewritePlan PlanForOptions(const Target& target, const RewriteFiltersOptions& options) {
  RewritePlan plan = ReadFiles(target);
  const StoredDatabase stored = ReadStored(target);
  const auto is_ours = [](const rocksdb::ColumnFamilyOptions& family) {
    return FindPolicy(family) != nullptr || rocksdb_plugin::FindBlockIndexOptions(family);
  };
  const bool has_ours = std::ranges::any_of(stored.loaded.families, is_ours,
                                            &rocksdb::ColumnFamilyDescriptor::options);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const rocksdb::ColumnFamilyOptions* const family = stored.Find(tree.name());
    const bool changes = family != nullptr && is_ours(*family);
    if (!changes && (target.family || !has_ours)) {
      const bool has_filters = std::ranges::any_of(plan.files, [](const FileReport& file) {
        return file.filter.origin == FilterOrigin::kBlocksieve;
      });
      term::Fail(
          "the OPTIONS file of database {} has no blocksieve policy or index{}; set one with "
          "blocksieve enable{}",
          target.path, target.family ? " for column family " + *target.family : "",
          has_filters ? ", or restore the filters of stock RocksDB with blocksieve revert" : "");
    }
    if (!changes || tree.num_keys() == 0) continue;
    Result<FilterPlan> planned =
        rocksdb_plugin::PlanColumnFamily(plan.files, tree, *family, options,
                                         KeysInFiles("looking at keys"), {}, {}, &plan.not_better);
    if (!planned.ok()) term::Fail("column family {}: {}", tree.name(), planned.status().message());
    AddPlan(i, *std::move(planned), rocksdb_plugin::PartsText(*family), &plan);
    if (plan.plans[i].changes.empty()) continue;
    plan.predictions.back().projected = Predict({&tree, 1}, {&plan.plans[i], 1}, 1);
  }
  return plan;
}

RewritePlan PlanRevert(const Target& target, const RewriteFiltersOptions& options,
                       const OptionsText& stock) {
  RewritePlan plan = ReadFiles(target);
  const StoredDatabase reverted = WithText(target, stock);
  for (size_t i = 0; i < plan.trees.size(); ++i) {
    const Tree& tree = plan.trees[i];
    const auto policy = rocksdb_plugin::Judge(
        stock.Find(OptionsSection::Table(tree.name()), "filter_policy").value_or("nullptr"));
    if (policy.kind == rocksdb_plugin::PolicyEffect::kForeign || tree.num_keys() == 0) continue;
    const bool had_policy = policy.builds() && HadPolicy(target, tree.name());
    const rocksdb_plugin::FilterReader reader =
        rocksdb_plugin::ReaderOf(*reverted.Find(tree.name()));
    std::vector<FilterChange> changes;
    for (size_t number = 0; number < tree.files().size(); ++number) {
      const TreeFile& of_tree = tree.files()[number];
      const FileReport& file = plan.files[of_tree.id];
      if (!IsToRevert(file, reader, had_policy) || !rocksdb_plugin::IsChosen(options, file))
        continue;
      changes.push_back({number, file.filter.predicted_fpr, of_tree.filter_bytes});
    }
    AddPlan(i, PlanChanges(tree, std::move(changes)), "", &plan);
  }
  return plan;
}

GuardedDb OpenToRewrite(const Target& target, uint64_t bytes_per_second) {
  const StoredDatabase stored = ReadStored(target);
  CheckWritable(stored, Access::kRewrite);
  UsedOptions options = OptionsToWrite(stored, Access::kRewrite, StandInPolicies(stored));
  if (bytes_per_second != 0) {
    options.db.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    const auto index = NewIndexFactory(stored, family.name);
    if (index != nullptr) SetIndex(index, &family.options);
    // RocksDB ignores all listeners of an OPTIONS file if it does not know one.
    AddListenerFor(family.options, &options.db);
  }
  GuardedDb db(target, std::move(options));
  if (!target.family) return db;
  term::CheckOk(db->Flush(rocksdb::FlushOptions(), db.FindHandle(*target.family)),
                "cannot write database {}", target.path);
  return db;
}

bool ExecutePlan(const GuardedDb& db, const RewritePlan& plan, const ShowProgress& show) {
  constexpr uint64_t kNoLimit = 0;  // the database has a rate limiter
  std::mutex mutex;
  FileProgress last;  // of the thread that compacts
  bool was_stopped = false;
  const rocksdb::Status status = db.Compact(
      [&] {
        FileProgress progress;
        std::set<std::string> written;
        const auto report = [&](const FileProgress& done) {
          const std::lock_guard lock(mutex);
          last = done;
          return !was_stopped;
        };
        rocksdb::Status result = rocksdb_plugin::RewriteFiles(
            db.get(), plan.rewrites,
            [&](const std::string& family) { return db.FindHandle(family); }, kNoLimit, report,
            &written, &progress);
        report(progress);
        return result;
      },
      [&](uint64_t all_written) {
        const std::lock_guard lock(mutex);
        // Output has nearly the size of the old file.
        FileProgress now = last;
        const uint64_t part =
            std::min(all_written - std::min(all_written, last.bytes_done), now.bytes_left);
        now.bytes_done += part;
        now.bytes_left -= part;
        if (was_stopped || show(now)) return;
        was_stopped = true;
        Stop(db);
      });
  show(last);
  if (!was_stopped) term::CheckOk(status, "cannot rewrite database {}", db->GetName());
  db.CheckRefused();
  return status.ok();
}

}  // namespace blocksieve::cli
