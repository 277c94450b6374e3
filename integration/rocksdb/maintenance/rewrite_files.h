#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/maintenance/seek_sample.h"

// Finds the files of a column family whose filters would improve, and compacts them one by one.

namespace blocksieve::rocksdb_plugin {

/// Plans to rewrite the files whose filters the family's policy would improve, or give other range
/// filters or prefixes, and those without its block index or with one of other options. `tree`: one
/// of BuildTrees(files). Leaves out files of which RewriteFiles has `written` the path, and those
/// whose planned filter RocksDB does not build; adds to `*not_better` why, for each.
/// `filter_bytes`: the family's share of filter_memory in an open database. REQUIRES: it has keys.
/// Errors: as AllocateRates.
Result<FilterPlan> PlanColumnFamily(const std::vector<FileReport>& files, const Tree& tree,
                                    const rocksdb::ColumnFamilyOptions& family,
                                    const RewriteFiltersOptions& options,
                                    const KeysOfFile& keys_of_file,
                                    const std::set<std::string>& written,
                                    std::optional<double> filter_bytes,
                                    std::vector<std::string>* not_better);

/// Why RocksDB builds no better filter for a file than it has; "" if it does. Options of policies,
/// tables and column families keep it from building some filters, which this finds by building one:
/// of the keys if filters answer for ranges, else of as many others.
std::string WhyNoBetter(const std::vector<FileReport>& files, const FileReport& file,
                        const rocksdb::ColumnFamilyOptions& family, const FilterRates& rates,
                        const FilterChange& planned, const KeysOfFile& keys_of_file);

/// Why a file would not improve that was rewritten.
inline constexpr const char* kNotAsPlanned = "what it built is not what was planned";

/// "RocksDB builds no better filter for 2 files: ....\n"; "" without such files.
std::string NotBetterText(const std::vector<std::string>& not_better);

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
/// are left out. Adds to `*written`, and to `*progress`, which `report` gets as in RewriteFilters.
/// Errors: Incomplete if `report` returned false, or other compactions held a file for ten minutes;
/// those of RocksDB.
rocksdb::Status RewriteFiles(rocksdb::DB* db, const std::vector<FileToRewrite>& files,
                             const FamilyHandles& handle_of, uint64_t bytes_per_second,
                             const ReportProgress& report, std::set<std::string>* written,
                             FileProgress* progress);

}  // namespace blocksieve::rocksdb_plugin
