#include "integration/cli/database/loaded_database.h"

#include <fmt/format.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

constexpr size_t kBatchBytes = 1 << 20;

/// Prints reports of collectors to standard error, except those about max_index_bytes for each
/// file, which the final report summarizes.
class IndexLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    if (std::string_view(line).find("max_index_bytes") != std::string_view::npos) return;
    term::WriteToStandardError(std::string(line) + "\n");
  }
};

void AddIndexes(SkipIndexOptions index, rocksdb::ColumnFamilyOptions* options) {
  if (index.columns.empty()) return;
  index.info_log = std::make_shared<IndexLog>();
  auto factory = NewSkipIndexCollectorFactory(index);
  if (!factory.ok()) term::FailUsage("cannot build these indexes: {}", factory.status().message());
  options->table_properties_collector_factories.push_back(*std::move(factory));
}

// Adds key filters, unless the database has a policy or its table format supports none.
void AddKeyFilters(rocksdb::ColumnFamilyOptions* options) {
  const auto* const table = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy != nullptr) return;
  rocksdb::BlockBasedTableOptions changed = *table;
  changed.filter_policy = *NewFilterPolicy({});
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
}

// Enables range filters. An existing policy keeps its other options.
void AddRanges(double range_fpr, rocksdb::ColumnFamilyOptions* options) {
  RangeFilterOptions ranges;
  if (const auto* const policy = PolicyOf(*options)) ranges.policy = policy->options();
  ranges.policy.ranges = true;
  ranges.policy.range_fpr = range_fpr;
  const rocksdb::Status status = EnableRangeFilter(options, ranges);
  if (!status.ok()) {
    term::FailUsage("--range-fpr is {}, but the database cannot have range filters: {}", range_fpr,
                    status.ToString());
  }
}

// The columns of new files: the wanted ones, and the database's other current ones, which
// compaction would drop otherwise. Appends to `*notes` what happens to current ones.
ColumnList WithKeptColumns(ColumnList wanted, const SkipIndexSummary& present,
                           std::vector<std::string>* notes) {
  for (const Column& old : present.columns) {
    const auto same_name = std::find_if(wanted.begin(), wanted.end(), [&](const Column& column) {
      return column.name() == old.name();
    });
    if (same_name == wanted.end()) {
      wanted.push_back(old);
      notes->push_back(fmt::format("keeping the existing index {}", old.ToText()));
    } else if (!(*same_name == old)) {
      notes->push_back(
          fmt::format("replacing the existing index {} by {}", old.ToText(), same_name->ToText()));
    }
  }
  for (const SkipIndexColumnUsage& usage : present.usage) {
    if (Column::Parse(usage.definition).ok()) continue;
    notes->push_back(fmt::format("only its own program can build the index {}; new files lack it",
                                 usage.definition));
  }
  return wanted;
}

}  // namespace

/// Records the last flushed sequence number.
class LoadedDatabase::FlushListener final : public rocksdb::EventListener {
 public:
  explicit FlushListener(std::string family) : family_(std::move(family)) {}

  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& flushed) override {
    if (flushed.cf_name != family_) return;
    // Memtables are flushed in order, one at a time.
    largest_sequence_ = std::max(largest_sequence_.load(), flushed.largest_seqno);
  }

  /// The largest flushed sequence number; 0 before the first flush.
  uint64_t largest_sequence() const { return largest_sequence_; }

 private:
  const std::string family_;
  std::atomic<uint64_t> largest_sequence_ = 0;
};

// Creates the directory if it is missing.
Database LoadedDatabase::Open(const LoadTarget& target) {
  CheckPlaceForDatabase(path_);
  StoredOptions options;
  SkipIndexOptions index = target.index;
  if (HasRocksDb(path_)) {
    options = ReadStoredOptions(path_, /*strict=*/true);
  } else {
    options.families = {{rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
    options.db.create_if_missing = true;
  }
  const auto has_name = [&](const auto& family) { return family.name == family_name_; };
  if (std::none_of(options.families.begin(), options.families.end(), has_name)) {
    options.families.emplace_back(family_name_, rocksdb::ColumnFamilyOptions());
    options.db.create_missing_column_families = true;
  } else if (HasRocksDb(path_)) {
    const Database db = OpenReadOnly(path_, family_name_);
    index.columns = WithKeptColumns(index.columns, IndexesOf(db, family_name_), &notes_);
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (family.name != family_name_) continue;
    if (family.options.comparator->timestamp_size() != 0) {
      term::Fail(
          "cannot load into database {}: its keys have timestamps, but input lines have none",
          path_);
    }
    AddIndexes(index, &family.options);
    // The listener stores large indexes in sidecars.
    if (!index.columns.empty()) AddListener(&options.db);
    AddKeyFilters(&family.options);
    if (target.range_fpr) AddRanges(*target.range_fpr, &family.options);
  }
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) term::Fail("cannot create database {}: {}", path_, error.message());
  options.db.listeners.push_back(flushes_);
  options.db.info_log = rocksdb_plugin::NewFullDiskLog(path_);
  return Database(path_, std::move(options), Database::Mode::kWrite);
}

LoadedDatabase::LoadedDatabase(const LoadTarget& target)
    : path_(target.path),
      family_name_(target.family),
      flushes_(std::make_shared<FlushListener>(target.family)),
      db_(Open(target)),
      family_(db_.HandleOf(target.family)) {
  const std::unique_ptr<rocksdb::Iterator> any(db_->NewIterator(rocksdb::ReadOptions(), family_));
  any->SeekToFirst();
  is_new_ = !any->Valid() && any->status().ok();
  first_sequence_ = db_->GetLatestSequenceNumber();
}

void LoadedDatabase::Put(std::string_view key, std::string_view value) {
  Check(batch_.Put(family_, key, value));
  if (batch_.GetDataSize() >= kBatchBytes) WriteBatch();
}

void LoadedDatabase::WriteBatch() {
  rocksdb::WriteOptions options;
  // Rows become durable in Flush, not before.
  options.disableWAL = true;
  Check(db_->Write(options, &batch_));
  batch_.Clear();
}

void LoadedDatabase::Flush() {
  if (batch_.Count() != 0) WriteBatch();
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), family_);
  // If a compaction filled the disk, its files are gone by now.
  if (!status.ok() && db_->Resume().ok()) status = db_->Flush(rocksdb::FlushOptions(), family_);
  Check(status);
}

uint64_t LoadedDatabase::rows_durable() const {
  const uint64_t flushed = flushes_->largest_sequence();
  return flushed > first_sequence_ ? flushed - first_sequence_ : 0;
}

bool LoadedDatabase::Compact(const CompactionProgress& progress) {
  rocksdb::CompactRangeOptions options;
  options.canceled = &term::InterruptFlag();
  // Files of the last level may also lack an index.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family_, &metadata);
  const rocksdb::Status status = db_.Compact(
      [&] { return db_->CompactRange(options, family_, nullptr, nullptr); },
      [&](uint64_t written) { progress(std::min(written, metadata.size), metadata.size); });
  if (status.IsIncomplete() && term::InterruptFlag()) return false;
  if (!status.ok()) term::Fail("cannot compact database {}: {}", path_, status.ToString());
  return true;
}

// After a full compaction, each key is stored once.
std::optional<uint64_t> LoadedDatabase::NumRows() {
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family_, &metadata);
  uint64_t rows = 0;
  uint64_t num_levels = 0;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    num_levels += !level.files.empty();
    if (level.level == 0 && level.files.size() > 1) return std::nullopt;
    for (const rocksdb::SstFileMetaData& file : level.files) {
      if (file.num_deletions != 0) return std::nullopt;
      rows += file.num_entries;
    }
  }
  if (num_levels > 1) return std::nullopt;
  return rows;
}

void LoadedDatabase::Check(const rocksdb::Status& status) const {
  if (status.ok()) return;
  term::Fail("cannot write database {}: {}", path_, status.ToString());
}

SkipIndexSummary LoadedDatabase::Indexes() const { return IndexesOf(db_, family_name_); }

}  // namespace blocksieve::cli
