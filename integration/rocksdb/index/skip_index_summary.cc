#include "integration/rocksdb/index/skip_index_summary.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr size_t kMaxProblems = 100;

/// Sums up the indexes of files, from the oldest to the newest.
class Summarizer {
 public:
  explicit Summarizer(SkipIndexSummary* summary) : summary_(*summary) {}

  void AddFile(const SstPlace& sst,
               const std::shared_ptr<const rocksdb::TableProperties>& properties) {
    ++summary_.num_files;
    const auto& user = properties->user_collected_properties;
    uint64_t needed = 0;
    if (FromText(std::string(FindProperty(user, kNeededProperty)), &needed)) {
      summary_.needed_index_bytes = std::max(summary_.needed_index_bytes, needed);
    }
    // Reads only the header of a sidecar.
    if (const auto sidecar = SidecarFile::Open(sst, *properties)) {
      const auto columns = SkipIndex::ReadColumns(sidecar.get());
      if (columns.ok()) return AddIndex(*columns, sidecar->num_bytes());
    }
    const auto index = SkipIndexCatalog::Default().Open(properties, sst, {});
    if (index->index() != nullptr) {
      return AddIndex(index->index()->columns(), index->index()->index_bytes());
    }
    if (summary_.problems.size() < kMaxProblems) {
      summary_.problems.push_back(FileNameOf(sst.path) + ": " + index->problem());
    }
    // Files whose index did not fit still have its definitions.
    const auto settings = ReadIdentityText(FindProperty(user, kIdentityProperty));
    if (!settings) return;
    for (const Column& column : settings->index.columns) Define(column.ToText());
  }

  void Finish() {
    for (auto& [name, column] : columns_) summary_.columns.push_back(std::move(column));
    for (auto& [definition, total] : usage_) summary_.usage.push_back(std::move(total));
  }

 private:
  SkipIndexColumnUsage& Define(const std::string& definition) {
    const Result<Column> column = Column::Parse(definition);
    if (column.ok()) columns_.insert_or_assign(column->name(), *column);
    if (column.status().code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
    SkipIndexColumnUsage& total = usage_[definition];
    total.definition = definition;
    return total;
  }

  void AddIndex(const std::vector<IndexColumnInfo>& columns, uint64_t num_bytes) {
    ++summary_.files_with_index;
    summary_.index_bytes += num_bytes;
    for (const IndexColumnInfo& column : columns) {
      SkipIndexColumnUsage& total = Define(column.definition);
      ++total.num_files;
      total.filter_bytes += column.filter_bytes;
      total.bounds_bytes += column.bounds_bytes;
      total.num_distinct += column.num_distinct;
      total.files_without_filters += column.filters != PartState::kPresent;
      total.files_with_bounds_chosen += column.filters == PartState::kBoundsSuffice;
      const auto lacks = [&](PartState why) {
        return column.filters == why || column.bounds == why;
      };
      total.files_over_budget += lacks(PartState::kOverBudget);
      total.files_over_memory += lacks(PartState::kOverMemory);
    }
  }

  SkipIndexSummary& summary_;
  std::map<std::string, SkipIndexColumnUsage> usage_;  // by definition
  std::map<std::string, Column> columns_;              // by name
};

}  // namespace

rocksdb::Status ReadSkipIndexes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                SkipIndexSummary* summary) try {
  rocksdb::Status status = CheckGiven({{"db", db}, {"summary", summary}});
  if (!status.ok()) return status;
  *summary = {};
  if (column_family == nullptr) column_family = db->DefaultColumnFamily();
  rocksdb::TablePropertiesCollection files;
  status = ReadTableProperties(db, column_family, &files);
  if (!status.ok()) return status;

  // File numbers ascend with time, even with trivial moves and ingestion.
  std::map<uint64_t, const rocksdb::TablePropertiesCollection::value_type*> newest_last;
  for (const auto& file : files) newest_last[FileNumberOf(file.first)] = &file;
  Summarizer summarizer(summary);
  for (const auto& [number, file] : newest_last) {
    summarizer.AddFile({db->GetEnv()->GetFileSystem(), file->first, nullptr}, file->second);
  }
  summarizer.Finish();
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve::rocksdb_plugin
