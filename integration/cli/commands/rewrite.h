#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/advise/advice.h"
#include "integration/cli/commands/options.h"
#include "integration/rocksdb/maintenance/rewrite_files.h"

// What apply, enable, rewrite and revert share.

namespace blocksieve::cli {

/// What the command line of one of them says.
struct ChangeOptions : TargetOptions {
  bool is_dry_run = false;

  std::vector<std::string> edits;  ///< Only of `apply`.

  RewriteFiltersOptions files;  ///< Of `rewrite` and `revert`. Its rate limits writing.

  std::optional<std::string> stock_policy;  ///< Only of `revert`.
};

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

/// Plans to rewrite all files with blocksieve filters, and those that lost theirs to a process
/// without the plug-in, with the policies of `stock`. Leaves out families whose policy this program
/// does not have.
RewritePlan PlanRevert(const Target& target, const RewriteFiltersOptions& options,
                       const OptionsText& stock);

/// The end of `apply` and `enable`: prints the changes after `notes` and, unless it is a dry run,
/// which has no lock, writes them. Throws Failure if RocksDB would not open the files with them.
void WriteOptions(const ChangeOptions& options, const StoredDatabase& stored,
                  const OptionsText& edited, const std::optional<DatabaseLock>& lock,
                  const std::string& notes);

/// For `rewrite` and `revert`: adds --db, --column-family, --level, --bytes-per-second, --dry-run
/// and --format.
void AddRewriteOptions(CLI::App* command, ChangeOptions* options);

/// Rewrites the files of the plan, and reports on standard output the predictions for the filters
/// before and after; for a dry run, prints the plan only. Plans again after opening the database.
/// `document`: first members of the JSON. Throws Interrupted, Failure.
void RewriteFiles(const ChangeOptions& options, Json document, RewritePlan before,
                  const std::function<RewritePlan()>& make_plan);

using ShowProgress = std::function<bool(const FileProgress&)>;

/// Runs work on files, which ends, and returns false, once `show`, to which it reports its
/// progress, returns false. Shows "DOING, 1 of 2 files: ...". Returns what was done, or throws
/// Interrupted: "interrupted; 1 file done, 2 left; run it again ...".
FileProgress RunInterruptibly(const char* doing,
                              const std::function<bool(const ShowProgress& show)>& work);

}  // namespace blocksieve::cli
