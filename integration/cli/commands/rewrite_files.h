#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/rewrite_plan.h"
#include "integration/cli/term/progress.h"

// What `rewrite` and `revert` share: rewriting files one by one.

namespace blocksieve::cli {

struct RewriteSettings {
  RewriteRequest request;
  uint64_t bytes_per_second = 0;  ///< 0: no limit.
  bool is_dry_run = false;
  OutputFormat format = OutputFormat::kText;
};

/// Adds --db, --column-family, --level, --bytes-per-second, --dry-run and --format.
void AddRewriteOptions(CLI::App* command, RewriteSettings* settings);

// `deed`: what the plan is for, "Rewriting" or the like; begins a sentence.

/// Wasted reads and memory, today and afterwards. "" if the plan changes nothing.
std::string PredictionText(const RewritePlan& plan, const std::string& subject);

using MakeRewritePlan = std::function<RewritePlan()>;

/// Rewrites the files of the plan, measures before and after, and reports on standard output; of a
/// dry run, what would be done. The plan is made once the database is open, unless nothing is to be
/// written, and again after what RocksDB compacted meanwhile. Throws Interrupted, Failure.
void RewriteFiles(const RewriteSettings& settings, const std::string& subject,
                  const MakeRewritePlan& make_plan);

/// Shows how far rewriting has come.
void ShowRewriting(const BackfillProgress& done, term::Progress* line);

}  // namespace blocksieve::cli
