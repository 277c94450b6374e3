#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/options_file.h"
#include "integration/cli/database/table/file_report.h"
#include "integration/rocksdb/maintenance/rewrite_plan.h"

// The files of a database whose filters would improve if they were rewritten with its options.

namespace blocksieve::cli {

using rocksdb_plugin::FamilyPlan;
using rocksdb_plugin::FamilyPlanner;
using rocksdb_plugin::FamilyPrediction;
using rocksdb_plugin::FileToRewrite;
using rocksdb_plugin::PlanFamily;

struct RewriteRequest {
  std::string database;
  std::optional<std::string> family = std::nullopt;
  RewriteFiltersOptions files = {};
};

struct RewritePlan {
  std::vector<FileReport> files;
  std::vector<RunList> lists;           ///< The runs of `files`.
  std::vector<FileToRewrite> rewrites;  ///< As SortBySavings sorts them.
  std::vector<FamilyPrediction> predictions;
};

/// Plans to build the filters that the OPTIONS file requests. Throws Failure if it has no
/// blocksieve policy.
RewritePlan PlanRewrite(const RewriteRequest& request);

/// Plans to rewrite all files with blocksieve filters, and those that lost theirs to a process
/// without the plug-in, with the policies of `stock`.
RewritePlan PlanRevert(const RewriteRequest& request, const OptionsFile& stock);

/// RunList::filter_bytes of a column family.
uint64_t FilterBytesOf(const std::string& database, const std::string& family);

}  // namespace blocksieve::cli
