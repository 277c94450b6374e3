#include "integration/cli/maintenance/file_rewriter.h"

#include <rocksdb/rate_limiter.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::LevelRegistry;

bool SpreadsOverLevels(const rocksdb::ColumnFamilyOptions& family) {
  const auto* const policy = PolicyOf(family);
  return policy != nullptr && rocksdb_plugin::GoalOf(policy->options()).differs_by_run();
}

Database OpenToRewrite(const std::string& database, uint64_t bytes_per_second,
                       const std::optional<std::vector<Column>>& columns) {
  StoredOptions options = ReadStoredOptions(database, /*strict=*/true);
  options.db.create_if_missing = false;
  if (bytes_per_second != 0) {
    options.db.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
  }
  // Only the index of the default column family can be built without the program.
  const auto index =
      NewIndexFactory({.database = database, .columns = columns.value_or(std::vector<Column>())});
  if (columns && index == nullptr) FailWithoutColumns(database);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (index != nullptr && family.name == rocksdb::kDefaultColumnFamilyName) {
      family.options.table_properties_collector_factories.push_back(index);
      AddListener(&options.db);
    }
    // RocksDB ignores all listeners of an OPTIONS file if it does not know one, and stores none.
    if (SpreadsOverLevels(family.options)) AddListener(&options.db);
  }
  return Database(database, std::move(options), Database::Mode::kWrite);
}

}  // namespace

FileRewriter::FileRewriter(const std::string& database, uint64_t bytes_per_second,
                           const std::optional<std::vector<Column>>& columns)
    : database_(database), db_(OpenToRewrite(database, bytes_per_second, columns)) {}

FileRewriter::~FileRewriter() { Stop(); }

// A compaction that waits for the rate limiter does not notice that it was cancelled.
void FileRewriter::Stop() {
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  db_->DisableManualCompaction();
  const auto limiter = db_->GetDBOptions().rate_limiter;
  if (limiter != nullptr) limiter->SetBytesPerSecond(kNoLimit);
}

// RocksDB has a call for this since 8.4.
bool FileRewriter::WaitForCompactions(const std::function<bool(uint64_t bytes)>& waiting) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr int kMaxIdleChecks = 10;  // some pending compactions never start
  for (int idle_times = 0; idle_times < kMaxIdleChecks;) {
    uint64_t num_running = 0;
    uint64_t num_due = 0;
    uint64_t bytes = 0;
    for (rocksdb::ColumnFamilyHandle* const handle : db_.handles()) {
      if (db_->GetOptions(handle).disable_auto_compactions) continue;
      const auto add = [&](const std::string& property, uint64_t* sum) {
        uint64_t value = 0;
        if (db_->GetIntProperty(handle, property, &value)) *sum += value;
      };
      add(rocksdb::DB::Properties::kNumRunningFlushes, &num_running);
      add(rocksdb::DB::Properties::kNumRunningCompactions, &num_running);
      add(rocksdb::DB::Properties::kCompactionPending, &num_due);
      add(rocksdb::DB::Properties::kEstimatePendingCompactionBytes, &bytes);
    }
    if (num_running + num_due == 0) return true;
    if (!waiting(bytes)) return false;
    idle_times = num_running == 0 ? idle_times + 1 : 0;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

// CompactFiles calls no listener when it begins. The policy must see the same tree as the plan.
void FileRewriter::UpdateLevels(const RewritePlan& plan) {
  LevelRegistry::ByColumnFamily levels;
  for (const RunList& list : plan.lists) levels[list.family] = list.tree.ToLevels();
  LevelRegistry::Instance().Set(db_->GetDBOptions().info_log, std::move(levels));
  rocksdb_plugin::SidecarDatabases::Instance().Register(db_.get());
}

std::optional<int> FileRewriter::LevelOf(const FileToRewrite& file) const {
  const std::string name = "/" + std::filesystem::path(file.place.path).filename().string();
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(db_.HandleOf(file.place.family), &metadata);
  for (const auto& level : metadata.levels) {
    for (const auto& present : level.files) {
      if (present.name == name) return level.level;
    }
  }
  return std::nullopt;
}

rocksdb::Status FileRewriter::RewriteOne(const FileToRewrite& file) {
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's
  // One file becomes one file: its blocks may compress a little less.
  compaction.output_file_size_limit = 2 * file.num_bytes;
  constexpr int kAnyPath = -1;
  const std::string name = "/" + std::filesystem::path(file.place.path).filename().string();
  // RocksDB may have moved it to another level since the plan was made.
  const std::optional<int> level = LevelOf(file);
  if (level) {
    return db_->CompactFiles(compaction, db_.HandleOf(file.place.family), {name}, *level, kAnyPath);
  }
  return rocksdb::Status::InvalidArgument("compacted away");
}

bool FileRewriter::Rewrite(const RewritePlan& plan,
                           const std::function<bool(const BackfillProgress&)>& progress) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr int kMaxWaits = 6000;
  BackfillProgress done;
  for (const FileToRewrite& file : plan.rewrites) {
    ++done.files_left;
    done.bytes_left += file.num_bytes;
  }
  std::deque<FileToRewrite> queue(plan.rewrites.begin(), plan.rewrites.end());
  for (int waits = 0; !queue.empty();) {
    const FileToRewrite file = queue.front();
    queue.pop_front();
    if (!progress(done)) return false;
    UpdateLevels(plan);
    bool keep_going = true;
    const auto report_progress = [&](uint64_t written) {
      BackfillProgress now = done;
      const uint64_t part = std::min(written, file.num_bytes);
      now.bytes_done += part;
      now.bytes_left -= part;
      if (!keep_going || progress(now)) return;
      keep_going = false;
      Stop();
    };
    const rocksdb::Status status = db_.Compact([&] { return RewriteOne(file); }, report_progress);
    // A cancelled compaction may return OK.
    if (!keep_going && (!status.ok() || LevelOf(file))) return false;
    if (status.IsAborted() && waits++ < kMaxWaits) {  // the file is in a compaction of RocksDB
      queue.push_back(file);
      std::this_thread::sleep_for(kPause);
      continue;
    }
    const bool is_gone = status.IsInvalidArgument();  // compacted away
    if (!status.ok() && !is_gone) {
      term::Fail("cannot rewrite {}: {}", file.place.path, status.ToString());
    }
    if (status.ok()) {
      ++done.files_done;
      done.bytes_done += file.num_bytes;
    }
    --done.files_left;
    done.bytes_left -= file.num_bytes;
    if (!keep_going) return progress(done);
  }
  progress(done);
  return true;
}

bool FileRewriter::RewriteForIndexes(const std::function<bool(const BackfillProgress&)>& progress) {
  std::mutex mutex;
  BackfillProgress last;  // of the thread that compacts
  const auto latest = [&] {
    const std::lock_guard lock(mutex);
    return last;
  };
  bool was_stopped = false;
  const rocksdb::Status status = db_.Compact(
      [&] {
        return BackfillSkipIndexes(db_.get(), db_.HandleOf(rocksdb::kDefaultColumnFamilyName),
                                   [&](const BackfillProgress& done) {
                                     const std::lock_guard lock(mutex);
                                     last = done;
                                     return !was_stopped;
                                   });
      },
      [&](uint64_t) {
        if (progress(latest())) return;
        const std::lock_guard lock(mutex);
        was_stopped = true;
        Stop();
      });
  progress(last);
  if (was_stopped) return false;
  if (!status.ok()) {
    term::Fail("cannot rewrite database {} with skip indexes: {}", database_, status.ToString());
  }
  return true;
}

}  // namespace blocksieve::cli
