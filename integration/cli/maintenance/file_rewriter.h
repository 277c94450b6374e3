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

/// An open database whose files can be rewritten one by one, with the options of its OPTIONS file
/// and its current skip indexes. Everything throws Failure.
class FileRewriter {
 public:
  /// `bytes_per_second` limits writing; 0: no limit. `columns`: additional columns for
  /// RewriteForIndexes. Throws UsageError if it is given and there are no columns to index.
  FileRewriter(const std::string& database, uint64_t bytes_per_second,
               const std::optional<std::vector<Column>>& columns = std::nullopt);

  ~FileRewriter();

  /// Waits until RocksDB has no pending compactions, which would outdate a plan. Calls `waiting`
  /// ten times a second with an estimate of the bytes left; returns false if that does.
  bool WaitForCompactions(const std::function<bool(uint64_t bytes)>& waiting);

  // Both call `show` ten times a second and at the end; if it returns false, they stop at once and
  // return false. Files rewritten until then stay so; others are unchanged.
  using ShowProgress = std::function<bool(const BackfillProgress&)>;

  /// Rewrites the files of the plan in order, each on its level; see RewriteFiles.
  bool Rewrite(const RewritePlan& plan, const ShowProgress& show);

  /// Rewrites files without a skip index; see BackfillSkipIndexes.
  bool RewriteForIndexes(const ShowProgress& show);

 private:
  void Stop();  // cancels what runs, without waiting for the rate limit
  bool Run(const ShowProgress& show,
           const std::function<rocksdb::Status(const ShowProgress&)>& rewrite);

  const std::string database_;
  const Database db_;
};

}  // namespace blocksieve::cli
