#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "integration/cli/database/table/file_report.h"
#include "lib/lsm/tree.h"

// The files of a database as lookups see them: trees of sorted runs.

namespace blocksieve::cli {

/// The number of entries that a filter of the file is made of: keys, prefixes or both, if it has a
/// readable filter; otherwise its versions of keys.
uint64_t FilterKeys(const FileReport& file);

/// Of a file's filters, without their parts for ranges.
uint64_t PointBytes(const FilterReport& filter);

struct SortedRun {
  int level = 0;
  std::vector<const FileReport*> files;  ///< At least one, not owned.
  uint64_t num_keys = 0;                 ///< The sum of their FilterKeys.
  double fpr = 1;                        ///< Of its present filters, the mean over the keys.
};

/// The runs of one column family, the newest first.
struct RunList {
  std::string family;
  std::vector<SortedRun> runs;

  /// The same runs. Every lookup checks every run, unless SetCoverage says more.
  lsm::Tree tree;

  uint64_t num_keys() const;
  uint64_t filter_bytes() const;  ///< Of filters for points: without the parts for ranges.
  bool has_range_filters() const;

  /// The levels of the tree. `kind`: of all filters; nothing: by kind=auto.
  lsm::Levels Levels(std::optional<FilterKind> kind) const;
};

/// By column family. `files` must outlive it and be in the order of ListFiles.
std::vector<RunList> SortIntoRuns(const std::vector<FileReport>& files);

/// The share of a file's entries, 0 to 1, that are before a key between its first and its last one.
using ShareBefore = std::function<double(const FileReport& file, std::string_view key)>;

/// Estimates by reading a data block for each key. A file that cannot be read has half of its
/// entries before every key.
ShareBefore ShareBeforeInFiles();

/// Finds out which runs of the tree lookups check, by the key ranges of the files. Without effect
/// if the range of a file is not known.
void SetCoverage(const ShareBefore& share_before, RunList* list);

/// The runs, one span for each level.
std::vector<std::span<const SortedRun>> ByLevel(const std::vector<SortedRun>& runs);

/// The runs as the model has them.
std::vector<lsm::Run> ModelOf(const std::vector<SortedRun>& runs);

}  // namespace blocksieve::cli
