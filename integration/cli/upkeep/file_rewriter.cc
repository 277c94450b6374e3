#include "integration/cli/upkeep/file_rewriter.h"

#include <rocksdb/listener.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include "blocksieve/rocksdb/listener.h"
#include "integration/cli/rocksdb/stored_database.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/compat/class_by_name.h"
#include "integration/rocksdb/compat/open_db.h"
#include "integration/rocksdb/levels/known_shapes.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/policy/policy_options.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::ColumnFamilyShape;
using rocksdb_plugin::KnownShapes;

// What the policy is to take the tree for: the same that the plan does.
ColumnFamilyShape ShapeOf(const RunList& list, const std::vector<double>& shares) {
  ColumnFamilyShape shape;
  const std::vector<RunGroup> groups = GroupsOf(list.runs, shares);
  const auto levels = ByLevel(list.runs);
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto level = static_cast<size_t>(levels[i].front().level);
    shape.level_keys.resize(level + 1);
    shape.level_shares.resize(level + 1, 1);
    shape.level_keys[level] = groups[i].keys_per_run;
    shape.level_shares[level] = groups[i].share_of_lookups;
    if (level != 0) continue;
    shape.level0_runs = groups[i].num_runs;
    shape.keys_per_level0_run = groups[i].keys_per_run;
  }
  return shape;
}

// Only that of the default column family can be built without its program.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> IndexFor(
    const std::string& database, const std::vector<Column>& columns, bool needs_index) {
  const auto db = OpenReadOnly(database);
  if (!needs_index && !PresentIndexOptions(db.get())) return nullptr;
  rocksdb::Status status;
  auto factory = NewSkipIndexCollectorFactory(
      WantedIndexOptions(db.get(), {.database = database, .columns = columns}), &status);
  if (factory == nullptr) term::FailUsage("cannot build these indexes: {}", status.ToString());
  return factory;
}

void AddListener(rocksdb::DBOptions* options) {
  const auto listener = NewListener();
  const auto is_same = [&](const std::shared_ptr<rocksdb::EventListener>& other) {
    return other != nullptr && std::string_view(other->Name()) == listener->Name();
  };
  auto& listeners = options->listeners;
  if (std::none_of(listeners.begin(), listeners.end(), is_same)) listeners.push_back(listener);
}

bool GoesByLevels(const rocksdb::ColumnFamilyOptions& family) {
  const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) return false;
  const auto* const policy = rocksdb_plugin::As<rocksdb_plugin::Policy>(table->filter_policy.get());
  return policy != nullptr && rocksdb_plugin::HasLevelRates(policy->options());
}

}  // namespace

FileRewriter::FileRewriter(const std::string& database, uint64_t bytes_per_second,
                           const std::vector<Column>& columns, bool needs_index)
    : database_(database), statistics_(rocksdb::CreateDBStatistics()) {
  StoredOptions options = ReadStoredOptions(database, /*strict=*/true);
  options.db.create_if_missing = false;
  options.db.statistics = statistics_;
  if (bytes_per_second != 0) {
    options.db.rate_limiter.reset(
        rocksdb::NewGenericRateLimiter(static_cast<int64_t>(bytes_per_second)));
  }
  const auto index = IndexFor(database, columns, needs_index);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (index != nullptr && family.name == rocksdb::kDefaultColumnFamilyName) {
      family.options.table_properties_collector_factories.push_back(index);
      AddListener(&options.db);
    }
    // RocksDB drops all listeners of an OPTIONS file if it does not know one, and writes that down.
    if (GoesByLevels(family.options)) AddListener(&options.db);
  }
  const rocksdb::Status status =
      rocksdb_plugin::OpenDb(&db_, [&](rocksdb_plugin::OpenedDb* opened) {
        return rocksdb::DB::Open(options.db, database, options.families, &handles_, opened);
      });
  if (!status.ok()) term::Fail("cannot open database {}: {}", database, status.ToString());
}

FileRewriter::~FileRewriter() {
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Only a null handle is an error.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::ColumnFamilyHandle* FileRewriter::HandleOf(const std::string& family) const {
  const auto found = std::find_if(handles_.begin(), handles_.end(),
                                  [&](const auto* handle) { return handle->GetName() == family; });
  if (found == handles_.end()) term::Fail("{}: no column family {}", database_, family);
  return *found;
}

// RocksDB has a call for this only from version 8.4 on.
bool FileRewriter::WaitForCompactions(const std::function<bool(uint64_t bytes)>& waiting) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr int kMostIdleTimes = 10;  // some that are due never begin
  for (int idle_times = 0; idle_times < kMostIdleTimes;) {
    uint64_t num_running = 0;
    uint64_t num_due = 0;
    uint64_t bytes = 0;
    for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
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

// RocksDB does not tell listeners when CompactFiles begins.
void FileRewriter::TellShapes(const RewritePlan& plan) {
  KnownShapes::ByColumnFamily shapes;
  for (size_t i = 0; i < plan.lists.size(); ++i) {
    shapes[plan.lists[i].family] = ShapeOf(plan.lists[i], plan.shares[i]);
  }
  KnownShapes::Instance().Set(db_->GetDBOptions().info_log, std::move(shapes));
  rocksdb_plugin::SidecarDatabases::Instance().Note(db_.get());
}

std::optional<int> FileRewriter::LevelOf(const FileToRewrite& file) const {
  const std::string name = "/" + std::filesystem::path(file.place.path).filename().string();
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(HandleOf(file.place.family), &metadata);
  for (const auto& level : metadata.levels) {
    for (const auto& present : level.files) {
      if (present.name == name) return level.level;
    }
  }
  return std::nullopt;
}

rocksdb::Status FileRewriter::RewriteOne(const FileToRewrite& file) {
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kDisableCompressionOption;  // as the column family has it
  // Into one file, as it is now: its blocks may compress a little less.
  compaction.output_file_size_limit = 2 * file.num_bytes;
  constexpr int kAnyPath = -1;
  const std::string name = "/" + std::filesystem::path(file.place.path).filename().string();
  // RocksDB may have moved it to another level since the plan was made.
  const std::optional<int> level = LevelOf(file);
  if (level) {
    return db_->CompactFiles(compaction, HandleOf(file.place.family), {name}, *level, kAnyPath);
  }
  return rocksdb::Status::InvalidArgument("compacted away");
}

bool FileRewriter::Rewrite(const RewritePlan& plan,
                           const std::function<bool(const RewriteProgress&)>& progress) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  constexpr int kMostWaits = 6000;
  RewriteProgress done;
  for (const FileToRewrite& file : plan.rewrites) {
    ++done.files_left;
    done.bytes_left += file.num_bytes;
  }
  std::deque<FileToRewrite> queue(plan.rewrites.begin(), plan.rewrites.end());
  for (int waits = 0; !queue.empty();) {
    const FileToRewrite file = queue.front();
    queue.pop_front();
    if (!progress(done)) return false;
    TellShapes(plan);
    const uint64_t written_before = statistics_->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
    auto result = std::async(std::launch::async, [&] { return RewriteOne(file); });
    bool goes_on = true;
    while (result.wait_for(kPause) != std::future_status::ready) {
      RewriteProgress now = done;
      const uint64_t part =
          std::min(statistics_->getTickerCount(rocksdb::COMPACT_WRITE_BYTES) - written_before,
                   file.num_bytes);
      now.bytes_done += part;
      now.bytes_left -= part;
      if (!goes_on || progress(now)) continue;
      goes_on = false;
      db_->DisableManualCompaction();
    }
    const rocksdb::Status status = result.get();
    // One that was ended in the middle may say that all is well.
    if (!goes_on && (!status.ok() || LevelOf(file))) return false;
    if (status.IsAborted() && waits++ < kMostWaits) {  // in a compaction of RocksDB's own
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
    if (!goes_on) return progress(done);
  }
  progress(done);
  return true;
}

bool FileRewriter::RewriteForIndexes(const std::function<bool(const BackfillProgress&)>& progress) {
  bool was_ended = false;
  const rocksdb::Status status = BackfillSkipIndexes(
      db_.get(), HandleOf(rocksdb::kDefaultColumnFamilyName), [&](const BackfillProgress& done) {
        was_ended = !progress(done);
        return !was_ended;
      });
  if (was_ended) return false;
  if (!status.ok()) {
    term::Fail("cannot rewrite database {} with skip indexes: {}", database_, status.ToString());
  }
  return true;
}

}  // namespace blocksieve::cli
