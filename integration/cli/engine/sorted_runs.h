#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "integration/cli/engine/table_file.h"

// The files of a database as lookups see them: a list of sorted runs, which are asked from the
// newest to the oldest until one has the key. Each file of level 0 is a run; so is each deeper
// level.

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

  uint64_t num_keys() const;
  uint64_t filter_bytes() const;  ///< Of filters for points: without the parts for ranges.
  bool has_range_filters() const;
};

/// By column family. `files` must outlive it and be in the order of Engine::ListFiles.
std::vector<RunList> SortIntoRuns(const std::vector<FileReport>& files);

/// The runs, one span for each level.
std::vector<std::span<const SortedRun>> ByLevel(const std::vector<SortedRun>& runs);

/// The kind of filter that its files get under kind=auto. REQUIRES: it has a file.
FilterKind KindOf(const SortedRun& run);

/// The runs level by level, as rates are allocated to them. `shares`: by run, of the lookups that
/// ask it; empty: all do.
std::vector<RunGroup> GroupsOf(const std::vector<SortedRun>& runs,
                               const std::vector<double>& shares = {});

}  // namespace blocksieve::cli
