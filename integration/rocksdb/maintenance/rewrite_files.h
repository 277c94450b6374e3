#pragma once

#include <rocksdb/db.h>

#include <functional>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/maintenance/rewrite_plan.h"

// Compacts the files of a plan one by one.

namespace blocksieve::rocksdb_plugin {

/// A file and where it belongs.
struct PlannedRewrite {
  FileToRewrite file;
  rocksdb::ColumnFamilyHandle* column_family = nullptr;
  const lsm::Levels* levels = nullptr;  ///< For which its filter was planned; not owned.
};

/// Rewrites the files in order, each on its level. Files that RocksDB has compacted away meanwhile
/// are left out. Adds to `*progress`, and passes it to `report` as RewriteFilters does. Errors:
/// Incomplete if `report` returned false, or other compactions held a file for ten minutes; those
/// of RocksDB.
rocksdb::Status RewriteFiles(rocksdb::DB* db, const std::vector<PlannedRewrite>& files,
                             uint64_t bytes_per_second,
                             const std::function<bool(const BackfillProgress&)>& report,
                             BackfillProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
