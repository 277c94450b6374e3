#include "integration/rocksdb/maintenance/file_report.h"

#include <map>
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

rocksdb::Status ReadLiveFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              bool reads_filters, std::vector<FileReport>* reports) {
  rocksdb::TablePropertiesCollection properties;
  rocksdb::Status status = ReadTableProperties(db, column_family, &properties);
  if (!status.ok()) return status;
  const bool stays_on_level0 =
      db->GetOptions(column_family).compaction_style == rocksdb::kCompactionStyleFIFO;
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  std::map<std::string, FilterReport> known;  // by path: files do not change
  for (FileReport& report : *reports) known[report.place.path] = std::move(report.filter);
  reports->clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto found = properties.find(file.db_path + file.name);  // which begins with a slash
      if (found == properties.end()) continue;
      const rocksdb::TableProperties& table = *found->second;
      const std::string path = PathOfTable(found->first, db->GetEnv()->GetFileSystem().get());
      const uint64_t num_entries = LacksProperties(table)
                                       ? file.size / kGuessedEntryBytes + 1
                                       : table.num_entries - table.num_range_deletions;
      FilterReport filter;
      if (!reads_filters) {
        filter = FilterOf(table);
      } else if (const auto found_before = known.find(path); found_before != known.end()) {
        filter = std::move(found_before->second);
      } else {
        status = ReadFilters(db->GetEnv(), path, table, &filter);
        if (!status.ok()) continue;  // compacted away
      }
      const bool is_short_lived = level.level == 0 && !stays_on_level0;
      reports->push_back({.place = {.path = path,
                                    .family = metadata.name,
                                    .level = level.level,
                                    .is_short_lived = is_short_lived,
                                    .keys = {{file.smallestkey, file.largestkey}}},
                          .num_entries = num_entries,
                          .num_bytes = file.size,
                          .filter = std::move(filter),
                          .index = {}});
    }
  }
  return rocksdb::Status::OK();
}

bool IsUnfiltered(const FileReport& file) {
  const FilterReport& filter = file.filter;
  if (file.num_entries == 0 || filter.origin == FilterOrigin::kBlocksieve) return false;
  if (filter.origin == FilterOrigin::kNone) return filter.policy != Policy::kName;
  return filter.origin != FilterOrigin::kStock;
}

}  // namespace blocksieve::rocksdb_plugin
