// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/skip_indexes.h"

#include <rocksdb/db.h>

#include <algorithm>
#include <map>

#include "blocksieve/predicate.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::SkipIndexSettings;

/// The options that the index of a file was built with, from its properties or its sidecar.
std::string IdentityOfIndex(const rocksdb_plugin::SstPlace& sst,
                            const rocksdb::TableProperties& properties) {
  const auto sidecar = rocksdb_plugin::SidecarFile::Open(sst, properties);
  if (sidecar != nullptr && !sidecar->header().identity.empty()) {
    return sidecar->header().identity;
  }
  return std::string(rocksdb_plugin::FindProperty(properties.user_collected_properties,
                                                  rocksdb_plugin::kIdentityProperty));
}

// The texts of these options, of the newest file last; empty for files without an index.
std::vector<std::string> IdentitiesIn(const GuardedDb& db, const std::string& family) {
  rocksdb::TablePropertiesCollection files;
  term::CheckOk(rocksdb_plugin::ReadTableProperties(db.get(), db.FindHandle(family), &files),
                "cannot read the properties of database {}", db->GetName());
  // File numbers ascend with time, even with trivial moves and ingestion.
  std::map<uint64_t, std::string> newest_last;
  for (const auto& [path, properties] : files) {
    newest_last[rocksdb_plugin::ParseFileNumber(path)] =
        IdentityOfIndex({db->GetEnv()->GetFileSystem(), path}, *properties);
  }
  std::vector<std::string> identities;
  for (auto& [number, identity] : newest_last) identities.push_back(std::move(identity));
  return identities;
}

}  // namespace

std::optional<SkipIndexSettings> PresentIndex(const StoredDatabase& stored,
                                              const std::string& family) {
  const rocksdb::ColumnFamilyOptions* const options = stored.Find(family);
  if (options == nullptr || !HasRocksDb(stored.target)) return std::nullopt;
  SkipIndexSettings defined;
  if (rocksdb_plugin::FindIndexOptions(*options, &defined).ok()) return defined;
  // New files get it instead, and RocksDB opens no database with the columns of both.
  const auto by_block = rocksdb_plugin::FindBlockIndexOptions(*options);
  if (by_block && !by_block->columns.empty()) return std::nullopt;
  const auto identities = IdentitiesIn(OpenReadOnly(stored.target, family), family);
  for (auto newest = identities.rbegin(); newest != identities.rend(); ++newest) {
    if (auto settings = rocksdb_plugin::ReadIdentityText(*newest)) return settings;
  }
  return std::nullopt;
}

std::vector<std::string> ColumnsInFiles(const GuardedDb& db, const std::string& family) {
  std::vector<std::string> columns;
  for (const std::string& identity : IdentitiesIn(db, family)) {
    for (const std::string_view column : rocksdb_plugin::ColumnLines(identity)) {
      columns.emplace_back(column);
    }
  }
  return columns;
}

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewIndexFactory(
    const StoredDatabase& stored, const std::string& family, const IndexChange& change) {
  auto settings = PresentIndex(stored, family);
  if (!settings && change.columns.empty()) return nullptr;
  if (!settings) settings.emplace();
  SkipIndexOptions& index = settings->index;
  std::vector<Column> columns(index.columns.begin(), index.columns.end());
  for (const Column& column : change.columns) {
    std::erase_if(columns, [&](const Column& other) { return other.name() == column.name(); });
    columns.push_back(column);
  }
  index.columns = std::move(columns);
  if (stored.has_ttl()) settings->value_suffix_bytes = kTtlBytes;
  if (change.target_fpr) index.target_fpr = *change.target_fpr;
  if (change.granule_rows) {
    index.block_granules = false;
    index.granule_rows = *change.granule_rows;
  }
  if (change.max_index_bytes) index.max_index_bytes = *change.max_index_bytes;
  if (change.info_log != nullptr) settings->info_log = change.info_log;
  const Status valid = SkipIndexBuilder::Create(index).status();
  if (!valid.ok()) term::FailUsage("cannot build the indexes: {}", valid.message());
  return std::make_shared<rocksdb_plugin::SkipIndexCollectorFactory>(*settings);
}

bool HasValues(const GuardedDb& db, rocksdb::ColumnFamilyHandle* family, const Column& column) {
  const Result<Predicate> has_value = Predicate::Not(Predicate::IsMissing(column));
  std::unique_ptr<SkipScan> scan;
  return !has_value.ok() ||
         !SkipScan::Create(db.get(), family, *has_value, {.limit = 1}, &scan).ok() || scan->Valid();
}

bool HasRows(const GuardedDb& db, const std::string& family) {
  const std::unique_ptr<rocksdb::Iterator> rows(db->NewIterator({}, db.FindHandle(family)));
  rows->SeekToFirst();
  return rows->Valid() || !rows->status().ok();
}

bool HasRowsOnlyInWal(const GuardedDb& db, const std::string& family) {
  rocksdb::ColumnFamilyMetaData files;
  db->GetColumnFamilyMetaData(db.FindHandle(family), &files);
  return files.file_count == 0 && HasRows(db, family);
}

void SetIndex(const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& index,
              rocksdb::ColumnFamilyOptions* options) {
  auto& collectors = options->table_properties_collector_factories;
  std::erase_if(collectors,
                [&](const auto& one) { return std::string_view(one->Name()) == index->Name(); });
  collectors.push_back(index);
}

}  // namespace blocksieve::cli
