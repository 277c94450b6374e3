#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/maintenance/live_files.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"
#include "integration/rocksdb/maintenance/rewrite_plan.h"
#include "integration/rocksdb/maintenance/trees.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

/// Visits the keys of a table of a database with these options, without timestamps, in order, up to
/// an error. Leaves out deletes.
void VisitKeys(const rocksdb::Options& options, const std::string& path,
               const std::function<void(std::string_view)>& visit) {
  rocksdb::SstFileReader table(options);
  if (!table.Open(path).ok()) return;
  rocksdb::ReadOptions read_options;
  read_options.fill_cache = false;
  read_options.total_order_seek = true;
  const std::string latest(options.comparator->timestamp_size(), '\xff');
  const rocksdb::Slice timestamp = latest;
  if (!latest.empty()) read_options.timestamp = &timestamp;
  const std::unique_ptr<rocksdb::Iterator> entry(table.NewIterator(read_options));
  entry->SeekToFirst();
  for (; entry->Valid(); entry->Next()) visit(entry->key().ToStringView());
}

/// The work of a call of RewriteFilters.
class FilterRewrite {
 public:
  FilterRewrite(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                const RewriteFiltersOptions& options)
      : db_(db), family_(family), request_(options), options_(db->GetOptions(family)) {}

  rocksdb::Status Check() {
    if (options_.compaction_style == rocksdb::kCompactionStyleFIFO) {
      return rocksdb::Status::NotSupported("blocksieve: FIFO compaction rewrites no files");
    }
    policy_ = PolicyOf(options_);
    if (policy_ == nullptr) {
      return rocksdb::Status::InvalidArgument(
          "blocksieve: column family " + family_->GetName() +
          " has no filter policy of this version of blocksieve; set one with EnableFilter");
    }
    if (const std::string& problem = LoadedAbiProblem(); !problem.empty()) {
      return rocksdb::Status::NotSupported("blocksieve: " + problem);
    }
    if (!GoalOf(policy_->options()).differs_by_run() || HasListener(options_)) return {};
    return rocksdb::Status::InvalidArgument(
        "blocksieve: wasted_reads and bits_per_key need the listener; add NewListener() to "
        "DBOptions::listeners");
  }

  rocksdb::Status Run(const std::function<bool(const BackfillProgress&)>& report) {
    constexpr int kMaxRounds = 5;
    BackfillProgress progress;
    for (int round = 0;; ++round) {
      std::vector<Tree> trees;
      FilterPlan plan;
      rocksdb::Status status = Plan(&trees, &plan);
      if (!status.ok()) return status;
      if (plan.changes.empty()) break;
      if (round == kMaxRounds) {
        return rocksdb::Status::Incomplete(
            "blocksieve: " + std::to_string(plan.changes.size()) +
            " files that were written meanwhile would improve; try again later");
      }
      status = RewriteFiles(
          db_, FilesToRewrite(files_.reports(), trees.front(), plan),
          [this](const std::string&) { return family_; }, request_.bytes_per_second, report,
          &progress);
      if (!status.ok()) return status;
    }
    progress.files_left = progress.bytes_left = 0;
    report(progress);
    return rocksdb::Status::OK();
  }

 private:
  // Leaves the plan empty if there are no keys.
  rocksdb::Status Plan(std::vector<Tree>* trees, FilterPlan* plan) {
    rocksdb::Status status = files_.Read(db_, family_);
    if (!status.ok()) return status;
    *trees = TreesOf(files_.reports());
    if (trees->empty() || trees->front().num_keys() == 0) return {};
    // Lookup shares as the policy has sampled them.
    const auto known = LevelRegistry::Instance().Get({options_.info_log.get(), family_->GetName()});
    if (known) trees->front().SetLookupShares(*known);
    Result<FilterPlan> planned = PlanRewrites(
        files_.reports(), trees->front(), policy_->options(), request_,
        [&](const FileReport& file, const std::function<void(std::string_view)>& visit) {
          VisitKeys(options_, file.place.path, visit);
        });
    if (!planned.ok()) return ToRocksStatus(planned.status());
    *plan = *std::move(planned);
    return {};
  }

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const RewriteFiltersOptions request_;
  const rocksdb::Options options_;
  const Policy* policy_ = nullptr;
  LiveFiles files_;
};

}  // namespace
}  // namespace rocksdb_plugin

rocksdb::Status RewriteFilters(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const RewriteFiltersOptions& options,
                               const std::function<bool(const BackfillProgress&)>& progress) try {
  rocksdb::Status status = rocksdb_plugin::CheckGiven({{"db", db}});
  if (!status.ok()) return status;
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  rocksdb_plugin::FilterRewrite rewrite(db, column_family, options);
  status = rewrite.Check();
  if (!status.ok()) return status;
  return rewrite.Run([&](const BackfillProgress& done) { return !progress || progress(done); });
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
