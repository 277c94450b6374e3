#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/database/table/file_report.h"

namespace blocksieve::cli {

/// Sums over files.
struct FilterSummary {
  uint64_t num_files = 0;
  uint64_t num_entries = 0;
  uint64_t num_bytes = 0;
  uint64_t covered_entries = 0;  ///< Of files with a filter that can be read.
  uint64_t covered_bytes = 0;
  uint64_t filter_entries = 0;
  uint64_t filter_bytes = 0;
  double weighted_fpr = 0;  ///< The sum of each file's predicted rate times its entries.

  void Add(const FileReport& file);

  /// The mean over all entries; 1 if there are none.
  double predicted_fpr() const {
    return num_entries == 0 ? 1 : weighted_fpr / static_cast<double>(num_entries);
  }
};

/// By column family and level.
std::map<std::pair<std::string, int>, FilterSummary> SummariseLevels(
    const std::vector<FileReport>& files);

/// Files that have no filter because the process that wrote them knew of no policy, in a database
/// whose options name blocksieve's, or did so lately, or that has filters of it.
FilterSummary FilesWithoutPlugin(const std::vector<FileReport>& files, const std::string& database);

/// One index definition over the files of a column family.
struct IndexSummary {
  uint64_t num_files = 0;
  uint64_t num_granules = 0;
  /// What the files have: see GranuleFiltersName.
  std::set<std::string> filters;
  uint64_t filter_bytes = 0;
  uint64_t bounds_bytes = 0;
};

/// By column family and definition.
std::map<std::pair<std::string, std::string>, IndexSummary> SummariseIndexes(
    const std::vector<FileReport>& files);

}  // namespace blocksieve::cli
