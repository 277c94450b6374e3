// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/skip_index_summary.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr size_t kMaxProblems = 100;

// Adds a column of a file's index.
void Add(const IndexColumnInfo& column, SkipIndexColumnUsage* total) {
  ++total->num_files;
  total->filter_bytes += column.filter_bytes;
  total->bounds_bytes += column.bounds_bytes;
  total->num_distinct += column.num_distinct;
  total->files_without_filters += column.filters != PartState::kPresent;
  total->files_with_bounds_chosen += column.filters == PartState::kBoundsSuffice;
  const auto lacks = [&](PartState why) { return column.filters == why || column.bounds == why; };
  total->files_over_budget += lacks(PartState::kOverBudget);
  total->files_over_memory += lacks(PartState::kOverMemory);
}

// Reads the columns and the size of a file's index. Returns why it has no usable one; "" if it has.
std::string ReadColumns(const SstPlace& sst,
                        const std::shared_ptr<const rocksdb::TableProperties>& properties,
                        std::vector<IndexColumnInfo>* columns, uint64_t* num_bytes) {
  // Reads only the header of a sidecar.
  if (const auto sidecar = SidecarFile::Open(sst, *properties)) {
    auto read = SkipIndex::ReadColumns(sidecar.get());
    if (read.ok()) {
      *columns = *std::move(read);
      *num_bytes = sidecar->num_bytes();
      return "";
    }
  }
  const auto file = SkipIndexCatalog::Default().Open(properties, sst, {});
  if (file->index() == nullptr) return file->problem();
  *columns = file->index()->columns();
  *num_bytes = file->index()->index_bytes();
  return "";
}

}  // namespace

rocksdb::Status ReadSkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                SkipIndexSummary* summary) {
  return PublicCall({{"db", db}, {"summary", summary}}, [&]() -> rocksdb::Status {
    *summary = {};
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    rocksdb::TablePropertiesCollection files;
    BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, column_family, &files));

    // File numbers ascend with time, even with trivial moves and ingestion.
    std::map<uint64_t, const rocksdb::TablePropertiesCollection::value_type*> newest_last;
    for (const auto& file : files) newest_last[FileNumberOf(file.first)] = &file;
    std::map<std::string, SkipIndexColumnUsage> usage;  // by definition
    std::map<std::string, Column> by_name;
    const auto define = [&](const std::string& definition) -> SkipIndexColumnUsage& {
      const Result<Column> column = Column::Parse(definition);
      if (column.ok()) by_name.insert_or_assign(column->name(), *column);
      if (column.status().code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
      SkipIndexColumnUsage& total = usage[definition];
      total.definition = definition;
      return total;
    };
    for (const auto& [number, file] : newest_last) {
      const auto& [path, properties] = *file;
      const auto& user = properties->user_collected_properties;
      ++summary->num_files;
      uint64_t needed = 0;
      if (FromText(std::string(FindProperty(user, kNeededProperty)), &needed)) {
        summary->needed_index_bytes = std::max(summary->needed_index_bytes, needed);
      }
      std::vector<IndexColumnInfo> columns;
      uint64_t num_bytes = 0;
      const std::string problem = ReadColumns({db->GetEnv()->GetFileSystem(), path, nullptr},
                                              properties, &columns, &num_bytes);
      for (const IndexColumnInfo& column : columns) Add(column, &define(column.definition));
      if (problem.empty()) {
        ++summary->files_with_index;
        summary->index_bytes += num_bytes;
        continue;
      }
      if (summary->problems.size() < kMaxProblems) {
        summary->problems.push_back(FileNameOf(path) + ": " + problem);
      }
      // Files whose index did not fit still have its definitions.
      const auto settings = ReadIdentityText(FindProperty(user, kIdentityProperty));
      if (!settings) continue;
      for (const Column& column : settings->index.columns) define(column.ToText());
    }
    for (auto& [name, column] : by_name) summary->columns.push_back(std::move(column));
    for (auto& [definition, total] : usage) summary->usage.push_back(std::move(total));
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve::rocksdb_plugin
