#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/advise/advice.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/options_file.h"
#include "integration/cli/database/sorted_runs.h"

// Which files of a database would gain if they were rewritten with the filters that its options ask
// for, and by how much.

namespace blocksieve::cli {

struct RewriteRequest {
  std::string database;
  std::optional<std::string> family = std::nullopt;
  std::optional<uint64_t> level = std::nullopt;  ///< Only files of this level.
  bool only_unfiltered = false;  ///< Only files without a filter that rules something out.
};

struct FileToRewrite {
  FilePlace place;
  uint64_t num_bytes = 0;   ///< Of the whole file.
  double saved_reads = 0;   ///< Per lookup of an absent key; negative: it wastes more.
  int64_t saved_bytes = 0;  ///< Of filters; negative: they take more.
};

/// What a column family wastes, by the model of its filters. Per lookup of an absent key.
struct FamilyPrediction {
  std::string family;
  uint64_t num_keys = 0;
  Prediction current;
  Prediction projected;  ///< Once the files are rewritten.
  bool is_known = true;  ///< Otherwise nothing is known of `then`.
};

struct RewritePlan {
  std::vector<FileReport> files;        ///< All of them.
  std::vector<RunList> lists;           ///< Of these files.
  std::vector<FileToRewrite> rewrites;  ///< Those that save most reads first, then most memory.
  std::vector<FamilyPrediction> predictions;
};

/// To the filters of blocksieve that the options of the database ask for. Throws Failure if they
/// ask for none.
RewritePlan PlanRewrite(const RewriteRequest& request);

/// Away from the filters of blocksieve, to the policies of `stock`: all files that have some.
RewritePlan PlanRevert(const RewriteRequest& request, const OptionsFile& stock);

/// Of all filters for points of a column family, as they are now.
uint64_t FilterBytesOf(const std::string& database, const std::string& family);

}  // namespace blocksieve::cli
