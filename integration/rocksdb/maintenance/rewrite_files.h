#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <functional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/maintenance/seek_sample.h"

// Finds the files of a column family whose filters would improve, and compacts them one by one.

namespace blocksieve::rocksdb_plugin {

/// Plans to rewrite the files whose filters the family's policy would improve, or give other range
/// filters or prefixes, and those without its block index or with one of other options. `tree`: one
/// of BuildTrees(files). REQUIRES: it has keys. Errors: as AllocateRates.
Result<FilterPlan> PlanRewrites(const std::vector<FileReport>& files, const Tree& tree,
                                const rocksdb::ColumnFamilyOptions& family,
                                const RewriteFiltersOptions& options,
                                const KeysOfFile& keys_of_file);

/// Whether a file is among those that the options select.
bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file);

/// What new files answer for ranges with, as in the options of the policy, or "none".
std::string PartsText(const rocksdb::ColumnFamilyOptions& family);

/// A file of a plan.
struct FileToRewrite {
  const FileReport* file = nullptr;
  FilterChange change = {};
  const FilterPlan* plan = nullptr;
  /// What the file will answer for ranges with, if that changes: PartsText of its family.
  std::string new_parts = {};
};

/// The files of a plan in its order. `files`: those of its tree. All must outlive the result.
std::vector<FileToRewrite> FilesToRewrite(const std::vector<FileReport>& files, const Tree& tree,
                                          const FilterPlan& plan);

using ReportProgress = std::function<bool(const FileProgress&)>;
using FamilyHandles = std::function<rocksdb::ColumnFamilyHandle*(const std::string& family)>;

/// Rewrites the files in order, each on its level. Files that RocksDB has compacted away meanwhile
/// are left out. Adds to `*progress`, and passes it to `report` as RewriteFilters does. Errors:
/// Incomplete if `report` returned false, or other compactions held a file for ten minutes; those
/// of RocksDB.
rocksdb::Status RewriteFiles(rocksdb::DB* db, const std::vector<FileToRewrite>& files,
                             const FamilyHandles& handle_of, uint64_t bytes_per_second,
                             const ReportProgress& report, FileProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
