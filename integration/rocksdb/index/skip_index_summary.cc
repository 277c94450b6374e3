#include <map>
#include <new>
#include <string>
#include <utility>

#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Adds the columns of the file's index, or sets `*problem` to the reason why it has none.
Status AddIndex(const SstPlace& sst,
                const std::shared_ptr<const rocksdb::TableProperties>& properties,
                internal::SkipIndexSummarizer* summarizer, std::string* problem) {
  // Reads only the headers of a sidecar.
  if (const auto sidecar = SidecarFile::Open(sst, *properties)) {
    const auto columns = SkipIndex::ReadColumns(sidecar.get());
    if (columns.ok()) return summarizer->AddIndex(*columns, sidecar->num_bytes());
  }
  const auto index = SkipIndexCatalog::Default().Open(properties, sst, {});
  *problem = index->problem();
  if (index->index() == nullptr) return Status::Ok();
  return summarizer->AddIndex(index->index()->columns(), index->index()->index_bytes());
}

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
  SstPlace sst;
  sst.file_system = db->GetEnv()->GetFileSystem();
  internal::SkipIndexSummarizer summarizer;
  for (const auto& [number, file] : newest_last) {
    const auto& properties = file->second;
    sst.path = file->first;
    uint64_t needed = 0;
    const auto& user = properties->user_collected_properties;
    if (FromText(std::string(FindProperty(user, kNeededProperty)), &needed)) {
      summarizer.AddNeededBytes(needed);
    }
    std::string problem;
    Status added = AddIndex(sst, properties, &summarizer, &problem);
    if (!added.ok()) return ToRocksStatus(added);
    if (problem.empty()) continue;
    summarizer.AddProblem(FileNameOf(sst.path) + ": " + problem);
    // Files whose index did not fit still have its definitions.
    if (FindProperty(user, kVersionProperty) != kPropertiesVersion) continue;
    for (const std::string_view line : SplitLines(FindProperty(user, kColumnsProperty))) {
      added = summarizer.AddDefinition(line);
      if (!added.ok()) return ToRocksStatus(added);
    }
  }
  *summary = summarizer.Finish();
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve::rocksdb_plugin
