#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/granule_catalog.h"
#include "integration/rocksdb/index/granule_properties.h"

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

constexpr size_t kMaxProblems = 100;

// Adds what one index says of its columns.
void AddUsage(const GranuleIndex& index, std::map<std::string, SkipIndexColumnUsage>* usage) {
  for (size_t i = 0; i < index.num_columns(); ++i) {
    const GranuleColumnInfo& column = index.column(i);
    SkipIndexColumnUsage& total = (*usage)[column.name];
    total.num_files += 1;
    total.filter_bytes += column.filter_bytes;
    total.bounds_bytes += column.bounds_bytes;
    total.num_distinct += column.num_distinct;
    total.files_without_filters += column.filters != GranulePart::kPresent;
  }
}

}  // namespace

rocksdb::Status ReadSkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                SkipIndexSummary* summary) try {
  *summary = {};
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  rocksdb::TablePropertiesCollection files;
  rocksdb::Status status = db->GetPropertiesOfAllTables(column_family, &files);
  if (!status.ok()) return status;

  // File numbers ascend with time, also over trivial moves and ingestion.
  std::map<uint64_t, std::pair<std::string, std::shared_ptr<const rocksdb::TableProperties>>>
      newest_last;
  for (const auto& [path, properties] : files) {
    newest_last[FileNumberOf(path)] = {path.substr(path.find_last_of('/') + 1), properties};
  }
  std::map<std::string, SkipIndexColumnUsage> usage;
  std::map<std::string, Column> by_name;
  for (const auto& [number, file] : newest_last) {
    const auto& [name, properties] = file;
    // Definitions are read where an index did not fit, too.
    const auto& user = properties->user_collected_properties;
    if (FindProperty(user, kVersionProperty) == kPropertiesVersion) {
      for (const std::string_view line : SplitLines(FindProperty(user, kColumnsProperty))) {
        usage.try_emplace(std::string(line));
        const Result<Column> column = Column::Parse(line);
        if (column.status().code() == StatusCode::kResourceExhausted) {
          return ToRocksStatus(column.status());
        }
        if (column.ok()) by_name.insert_or_assign(column->name(), *column);
      }
    }
    ++summary->num_files;
    const std::shared_ptr<const FileIndex> index = GranuleCatalog::Default().Open(properties);
    if (index->index() != nullptr) {
      ++summary->files_with_index;
      summary->index_bytes += index->index()->index_bytes();
      AddUsage(*index->index(), &usage);
    } else if (summary->problems.size() < kMaxProblems) {
      summary->problems.push_back(name + ": " + index->problem());
    }
  }
  for (auto& [name, column] : by_name) summary->columns.push_back(column);
  for (auto& [definition, total] : usage) {
    total.definition = definition;
    summary->usage.push_back(total);
  }
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
