#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/rewrite_plan.h"

namespace blocksieve::cli {

/// A database that is open so that its files can be rewritten one by one, with the options of its
/// OPTIONS file and the skip indexes that its files have. Everything throws Failure.
class FileRewriter {
 public:
  /// Writes at most `bytes_per_second`; 0: as fast as it can. `columns`: for RewriteForIndexes,
  /// those to be indexed besides. Throws UsageError if it then finds none at all.
  FileRewriter(const std::string& database, uint64_t bytes_per_second,
               const std::optional<std::vector<Column>>& columns = std::nullopt);

  /// Waits until RocksDB has no compactions of its own left: a plan made earlier is out of date as
  /// soon as it is made. `waiting` is called ten times a second with an estimate of the bytes that
  /// are still to be compacted; if it returns false, so does this.
  bool WaitForCompactions(const std::function<bool(uint64_t bytes)>& waiting);

  /// Rewrites the files in their order, each into its own level. `progress` is called ten times a
  /// second and at the end; if it returns false, rewriting ends there, and so does this, with
  /// false. What is done stays done, and nothing else has changed then. Bytes are those of the
  /// files as they were, also of a part of one. A file that was compacted away meanwhile is passed
  /// over.
  bool Rewrite(const RewritePlan& plan,
               const std::function<bool(const BackfillProgress&)>& progress);

  /// The skip indexes that files lack. As BackfillSkipIndexes; false if `progress` ended it.
  bool RewriteForIndexes(const std::function<bool(const BackfillProgress&)>& progress);

 private:
  void UpdateLevels(const RewritePlan& plan);
  /// Nothing once it is rewritten or compacted away.
  std::optional<int> LevelOf(const FileToRewrite& file) const;
  rocksdb::Status RewriteOne(const FileToRewrite& file);

  const std::string database_;
  const Database db_;
};

}  // namespace blocksieve::cli
