#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/options_file.h"
#include "integration/cli/database/sorted_runs.h"

// The files of a database whose filters would improve if they were rewritten with its options.

namespace blocksieve::cli {

struct RewriteRequest {
  std::string database;
  std::optional<std::string> family = std::nullopt;
  std::optional<uint64_t> level = std::nullopt;  ///< Restricts the plan to a level.
  bool only_unfiltered = false;  ///< Restricts it to files without a working filter.
};

struct FileToRewrite {
  FilePlace place;
  uint64_t num_bytes = 0;   ///< Size of the file.
  double saved_reads = 0;   ///< Per lookup of an absent key; negative if more are wasted.
  int64_t saved_bytes = 0;  ///< Key filter bytes; negative if the new filter is larger.
  /// What the filter answers for ranges with, as in the policy's options, or "none". Empty if that
  /// does not change.
  std::string new_parts = {};
};

/// Wasted reads per lookup of an absent key, and memory, by the model of the filters.
struct FamilyPrediction {
  std::string family;
  uint64_t num_keys = 0;
  Prediction current;
  Prediction projected;  ///< After the files are rewritten.
  bool is_known = true;  ///< Otherwise `projected` is not set.
};

struct RewritePlan {
  std::vector<FileReport> files;
  std::vector<RunList> lists;           ///< The runs of `files`.
  std::vector<FileToRewrite> rewrites;  ///< By saved reads, then by saved memory, descending.
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
