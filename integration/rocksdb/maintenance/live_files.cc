#include "integration/rocksdb/maintenance/live_files.h"

#include <utility>

#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Without properties, only the blocks tell the number of entries.
constexpr uint64_t kGuessedEntryBytes = 64;

FilterReport FilterOf(const rocksdb::TableProperties& table) {
  FilterReport filter;
  filter.policy = table.filter_policy_name;
  filter.num_bytes = table.filter_size;
  if (table.filter_size == 0) return filter;
  const bool is_ours = table.filter_policy_name == Policy::kName;
  filter.origin = is_ours ? FilterOrigin::kBlocksieve : FilterOrigin::kStock;
  return filter;
}

}  // namespace

rocksdb::Status LiveFiles::Read(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family) {
  rocksdb::TablePropertiesCollection properties;
  rocksdb::Status status = ReadTableProperties(db, column_family, &properties);
  if (!status.ok()) return status;
  const bool stays_on_level0 =
      db->GetOptions(column_family).compaction_style == rocksdb::kCompactionStyleFIFO;
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  std::map<std::string, FilterReport> present;  // forgets files that are gone
  reports_.clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto found = properties.find(file.db_path + file.name);  // which begins with a slash
      if (found == properties.end()) continue;
      const rocksdb::TableProperties& table = *found->second;
      const std::string path = PathOfTable(found->first, db->GetEnv()->GetFileSystem().get());
      const uint64_t num_entries = LacksProperties(table)
                                       ? file.size / kGuessedEntryBytes + 1
                                       : table.num_entries - table.num_range_deletions;
      const auto known = known_.find(path);
      FilterReport filter;
      if (!reads_filters_) {
        filter = FilterOf(table);
      } else if (known == known_.end()) {
        status = ReadFilters(db->GetEnv(), path, table, &filter);
        if (!status.ok()) continue;  // compacted away
      } else {
        filter = known->second;
      }
      present[path] = filter;
      const bool is_short_lived = level.level == 0 && !stays_on_level0;
      FilePlace place{path, metadata.name, level.level, is_short_lived, {}};
      place.keys = {file.smallestkey, file.largestkey};
      reports_.push_back({.place = std::move(place),
                          .num_entries = num_entries,
                          .num_bytes = file.size,
                          .filter = std::move(filter),
                          .index = {}});
    }
  }
  known_ = std::move(present);
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::rocksdb_plugin
