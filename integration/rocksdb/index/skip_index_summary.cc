#include <map>
#include <new>
#include <utility>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "lib/skip/summary.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

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
    newest_last[FileNumberOf(path)] = {FileNameOf(path), properties};
  }
  internal::SkipIndexSummarizer summarizer;
  for (const auto& [number, file] : newest_last) {
    const auto& [name, properties] = file;
    const std::shared_ptr<const FileIndex> index = SkipIndexCatalog::Default().Open(properties);
    if (index->index() != nullptr) {
      const GranuleIndex& granules = index->index()->granules();
      const Status added = summarizer.AddIndex(granules, granules.index_bytes());
      if (!added.ok()) return ToRocksStatus(added);
      continue;
    }
    summarizer.AddProblem(name + ": " + index->problem());
    // Definitions are read where an index did not fit, too.
    const auto& user = properties->user_collected_properties;
    if (FindProperty(user, kVersionProperty) != kPropertiesVersion) continue;
    for (const std::string_view line : SplitLines(FindProperty(user, kColumnsProperty))) {
      const Status added = summarizer.AddDefinition(line);
      if (!added.ok()) return ToRocksStatus(added);
    }
  }
  *summary = summarizer.Finish();
  return status;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
