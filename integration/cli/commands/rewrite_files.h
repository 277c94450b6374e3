#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/rewrite_plan.h"

// Rewriting files one by one, shared by `rewrite` and `revert`.

namespace blocksieve::cli {

// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing.
struct RewriteSettings {
  RewriteRequest request;
  uint64_t bytes_per_second = 0;  ///< 0: no limit.
  bool is_dry_run = false;
  OutputFormat format = OutputFormat::kText;
  nlohmann::ordered_json about_options = {};  ///< First members of the JSON document.
};

/// Adds --db, --column-family, --level, --bytes-per-second, --dry-run and --format.
void AddRewriteOptions(CLI::App* command, RewriteSettings* settings);

// `subject`: the purpose of the plan as the subject of a sentence, such as "Rewriting".

/// Current and projected wasted reads and memory; "" if the plan changes nothing.
std::string PredictionText(const RewritePlan& plan, const std::string& subject);

/// Rewrites the files of the plan, and reports on standard output the predictions for the filters
/// before and after; for a dry run, prints the plan only. Plans after opening the database, and
/// again after each round in case RocksDB compacted meanwhile. Throws Interrupted, Failure.
void RewriteFiles(const RewriteSettings& settings, const std::string& subject,
                  const std::function<RewritePlan()>& make_plan);

/// Runs work on files, which ends, and returns false, once `show`, to which it reports its
/// progress, returns false. Shows "DOING, 1 of 2 files: ...". Returns what was done, or throws
/// Interrupted: "interrupted; 1 file DONE, 2 left; run it again ...", with `before` files more.
BackfillProgress RunInterruptibly(const char* doing, const char* done, uint64_t before,
                                  const std::function<bool(const ShowProgress& show)>& work);

}  // namespace blocksieve::cli
