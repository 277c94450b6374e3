#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"
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

// Errors: those of RewriteFilters for options under which it cannot build better filters.
rocksdb::Status CheckRewritable(const rocksdb::Options& options, const std::string& family) {
  if (options.compaction_style == rocksdb::kCompactionStyleFIFO) {
    return rocksdb::Status::NotSupported("blocksieve: FIFO compaction rewrites no files");
  }
  const Policy* const policy = PolicyOf(options);
  if (policy == nullptr) {
    return rocksdb::Status::InvalidArgument(
        "blocksieve: column family " + family +
        " has no filter policy of this version of blocksieve; set one with EnableFilter");
  }
  if (const std::string& problem = LoadedAbiProblem(); !problem.empty()) {
    return rocksdb::Status::NotSupported("blocksieve: " + problem);
  }
  if (!GoalOf(policy->options()).differs_by_run() || HasListener(options)) return {};
  return rocksdb::Status::InvalidArgument("blocksieve: " + std::string(kNeedsListener));
}

}  // namespace
}  // namespace rocksdb_plugin

using namespace rocksdb_plugin;  // NOLINT: the same component

rocksdb::Status RewriteFilters(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const RewriteFiltersOptions& options,
                               const std::function<bool(const BackfillProgress&)>& progress) {
  return PublicCall({{"db", db}}, [&]() -> rocksdb::Status {
    constexpr int kMaxRounds = 5;
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    const rocksdb::Options db_options = db->GetOptions(column_family);
    rocksdb::Status status = CheckRewritable(db_options, column_family->GetName());
    if (!status.ok()) return status;
    const auto report = [&](const BackfillProgress& done) { return !progress || progress(done); };
    const auto visit_keys = [&](const FileReport& file,
                                const std::function<void(std::string_view)>& visit) {
      VisitKeys(db_options, file.place.path, visit);
    };
    BackfillProgress done;
    std::vector<FileReport> files;
    for (int round = 0;; ++round) {
      status = ReadLiveFiles(db, column_family, /*reads_filters=*/true, &files);
      if (!status.ok()) return status;
      std::vector<Tree> trees = TreesOf(files);
      if (trees.empty() || trees.front().num_keys() == 0) break;
      // Lookup shares as the policy has sampled them.
      const auto known =
          KnownLevels({db_options.info_log.get(), column_family->GetName(), db->GetName()});
      if (known) trees.front().SetLookupShares(*known);
      const Result<FilterPlan> plan =
          PlanRewrites(files, trees.front(), PolicyOf(db_options)->options(), options, visit_keys);
      if (!plan.ok()) return ToRocksStatus(plan.status());
      if (plan->changes.empty()) break;
      if (round == kMaxRounds) {
        return rocksdb::Status::Incomplete(
            "blocksieve: " + std::to_string(plan->changes.size()) +
            " files that were written meanwhile would improve; try again later");
      }
      status = RewriteFiles(
          db, FilesToRewrite(files, trees.front(), *plan),
          [&](const std::string&) { return column_family; }, options.bytes_per_second, report,
          &done);
      if (!status.ok()) return status;
    }
    done.files_left = done.bytes_left = 0;
    report(done);
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve
