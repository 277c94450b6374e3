#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/upkeep/rewrite_plan.h"

// What `rewrite` and `revert` share: rewriting files one by one.

namespace blocksieve::cli {

struct RewriteSettings {
  RewriteQuestion question;
  uint64_t bytes_per_second = 0;  ///< 0: no limit.
  bool is_dry_run = false;
  OutputFormat format = OutputFormat::kText;
};

/// Adds --db, --column-family, --level, --bytes-per-second, --dry-run and --format.
void AddRewriteOptions(CLI::App* command, RewriteSettings* settings);

using MakeRewritePlan = std::function<RewritePlan()>;

/// Rewrites the files of the plan, measures before and after, and reports on standard output; of a
/// dry run, what would be done, which is the `deed` "Rewriting" or the like. The plan is made once
/// the database is open, unless nothing is to be written, and again after what RocksDB compacted
/// meanwhile. Throws Interrupted, Failure.
void RewriteFiles(const RewriteSettings& settings, const std::string& deed,
                  const MakeRewritePlan& make_plan);

/// "12.3 MB/s, 40 s left": of so many bytes done in so many seconds, and so many left.
std::string PaceText(uint64_t bytes_done, uint64_t bytes_left, double seconds);

}  // namespace blocksieve::cli
