#include "integration/cli/loaded_database.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database.h"
#include "integration/cli/failure.h"
#include "integration/cli/interrupt.h"

namespace blocksieve::cli {
namespace {

constexpr size_t kBatchBytes = 1 << 20;

SkipIndexSummary IndexesOf(rocksdb::DB* db, const std::string& path) {
  SkipIndexSummary summary;
  const rocksdb::Status status = ReadSkipIndexes(db, nullptr, &summary);
  if (!status.ok()) Fail("cannot read the indexes of database {}: {}", path, status.ToString());
  return summary;
}

// Compaction would drop the indexes that the database has if they were not asked for again.
std::vector<Column> AllColumns(const LoadTarget& target, const SkipIndexSummary& present,
                               std::vector<std::string>* notes) {
  std::vector<Column> columns = target.columns;
  for (const Column& old : present.columns) {
    const auto same_name = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
      return column.name() == old.name();
    });
    if (same_name == columns.end()) {
      columns.push_back(old);
      notes->push_back(fmt::format("the database's index on the value's {} is kept", old.ToText()));
    } else if (!(*same_name == old)) {
      notes->push_back(fmt::format("the database's index on the value's {} is replaced by {}",
                                   old.ToText(), same_name->ToText()));
    }
  }
  for (const SkipIndexColumnUsage& usage : present.usage) {
    if (Column::Parse(usage.definition).ok()) continue;
    notes->push_back(
        fmt::format("the index {} can be written by its own program only: new files "
                    "will lack it",
                    usage.definition));
  }
  return columns;
}

void AddIndexes(const LoadTarget& target, const std::vector<Column>& columns,
                rocksdb::ColumnFamilyOptions* options) {
  if (columns.empty()) return;
  SkipIndexOptions index;
  index.columns = columns;
  index.granule_rows = target.granule_rows;
  index.target_fpr = target.target_fpr;
  rocksdb::Status status;
  auto factory = NewSkipIndexCollectorFactory(index, &status);
  if (factory == nullptr) FailUsage("cannot index so: {}", status.ToString());
  options->table_properties_collector_factories.push_back(std::move(factory));
}

// Key filters, unless the database has some, or tables that take none.
void AddKeyFilters(rocksdb::ColumnFamilyOptions* options) {
  const auto* const table = options->table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy != nullptr) return;
  rocksdb::BlockBasedTableOptions changed = *table;
  changed.filter_policy = NewFilterPolicy({});
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
}

}  // namespace

LoadedDatabase::LoadedDatabase(const LoadTarget& target) : path_(target.path) {
  StoredOptions options;
  std::vector<Column> columns = target.columns;
  switch (LookAt(path_)) {
    case DatabasePlace::kOther:
      Fail("{} is no database, and not an empty directory either", path_);
    case DatabasePlace::kDatabase:
      options = ReadStoredOptions(path_, /*strict=*/true);
      columns = AllColumns(target, IndexesOf(OpenReadOnly(path_).get(), path_), &notes_);
      break;
    case DatabasePlace::kMissing:
    case DatabasePlace::kEmptyDirectory:
      options.families = {{rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
      options.db.create_if_missing = true;
      break;
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (family.name != rocksdb::kDefaultColumnFamilyName) continue;
    AddIndexes(target, columns, &family.options);
    AddKeyFilters(&family.options);
  }
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) Fail("cannot create database {}: {}", path_, error.message());
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(options.db, path_, options.families, &handles_, &db);
  if (!status.ok()) Fail("cannot open database {}: {}", path_, status.ToString());
  db_.reset(db);
}

LoadedDatabase::~LoadedDatabase() {
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Only a null handle is an error.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

void LoadedDatabase::Put(std::string_view key, std::string_view value) {
  Check(batch_.Put(key, value));
  if (batch_.GetDataSize() >= kBatchBytes) WriteBatch();
}

void LoadedDatabase::WriteBatch() {
  rocksdb::WriteOptions options;
  // Flush makes rows last, and there is nobody to be promised anything before.
  options.disableWAL = true;
  Check(db_->Write(options, &batch_));
  batch_.Clear();
}

void LoadedDatabase::Flush() {
  if (batch_.Count() != 0) WriteBatch();
  Check(db_->Flush(rocksdb::FlushOptions()));
}

bool LoadedDatabase::Compact() {
  rocksdb::CompactRangeOptions options;
  options.canceled = &InterruptFlag();
  // Files of the last level, too, may lack an index.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const rocksdb::Status status = db_->CompactRange(options, nullptr, nullptr);
  if (status.IsIncomplete() && InterruptFlag()) return false;
  Check(status);
  return true;
}

SkipIndexSummary LoadedDatabase::Indexes() const { return IndexesOf(db_.get(), path_); }

void LoadedDatabase::Check(const rocksdb::Status& status) const {
  if (status.ok()) return;
  Fail("cannot write database {}: {}; rows of this load may be missing from it", path_,
       status.ToString());
}

}  // namespace blocksieve::cli
