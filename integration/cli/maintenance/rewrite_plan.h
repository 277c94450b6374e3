#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/open_database.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"

// The files of a database whose filters would improve if they were rewritten, and how they are.

namespace blocksieve::cli {

using rocksdb_plugin::FileToRewrite;

/// The filters of a column family before and after some of its files change.
struct FamilyPrediction {
  std::string family;
  uint64_t num_keys = 0;
  Prediction current = {};
  std::optional<Prediction> projected = {};  ///< By our model of a plan, or as the files are then.
};

/// May be moved, but not copied: members refer to each other.
struct RewritePlan {
  std::vector<FileReport> files;
  std::vector<Tree> trees;                    ///< Of `files`.
  std::vector<FilterPlan> plans;              ///< By tree.
  std::vector<FileToRewrite> rewrites;        ///< Sorted by FilterChange::SavesMore.
  std::vector<std::string> not_better;        ///< Why further files would not improve.
  std::vector<FamilyPrediction> predictions;  ///< Of families with files to rewrite.
};

/// Plans to build the filters that the OPTIONS file requests. Throws Failure if it has no
/// blocksieve policy.
RewritePlan PlanForOptions(const Target& target, const RewriteFiltersOptions& options);

/// Plans to rewrite all files with blocksieve filters, and those that lost theirs to a process
/// without the plug-in, with the policies of `stock`. Leaves out families whose policy this program
/// does not have.
RewritePlan PlanRevert(const Target& target, const RewriteFiltersOptions& options,
                       const OptionsText& stock);

using ShowProgress = std::function<bool(const FileProgress&)>;

/// Opens a database whose files can be rewritten one by one, with the options of its OPTIONS file
/// and, where these define none, its current skip indexes. RocksDB starts no compactions of its
/// own. Flushes the families of the target. `bytes_per_second` limits writing; 0: no limit.
GuardedDb OpenToRewrite(const Target& target, uint64_t bytes_per_second);

/// Rewrites the files of the plan in order, each on its level; see RewriteFiles. Calls `show` ten
/// times a second and at the end; if it returns false, stops at once and returns false.
bool ExecutePlan(const GuardedDb& db, const RewritePlan& plan, const ShowProgress& show);

}  // namespace blocksieve::cli
