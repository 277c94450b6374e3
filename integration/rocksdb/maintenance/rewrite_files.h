#pragma once

#include <rocksdb/db.h>

#include <functional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/maintenance/file_report.h"

// Compacts the files of a plan one by one.

namespace blocksieve::rocksdb_plugin {

/// A file of a plan.
struct FileToRewrite {
  const FileReport* file = nullptr;
  FilterChange change = {};
  const FilterPlan* plan = nullptr;
  /// What the filter will answer for ranges with, if that changes: PartsText of its policy.
  std::string new_parts = {};
};

/// The files of a plan in its order. `files`: those of its tree. All must outlive the result.
std::vector<FileToRewrite> FilesToRewrite(const std::vector<FileReport>& files, const Tree& tree,
                                          const FilterPlan& plan);

using FamilyHandles = std::function<rocksdb::ColumnFamilyHandle*(const std::string& family)>;

/// Rewrites the files in order, each on its level. Files that RocksDB has compacted away meanwhile
/// are left out. Adds to `*progress`, and passes it to `report` as RewriteFilters does. Errors:
/// Incomplete if `report` returned false, or other compactions held a file for ten minutes; those
/// of RocksDB.
rocksdb::Status RewriteFiles(rocksdb::DB* db, const std::vector<FileToRewrite>& files,
                             const FamilyHandles& handle_of, uint64_t bytes_per_second,
                             const std::function<bool(const BackfillProgress&)>& report,
                             BackfillProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
