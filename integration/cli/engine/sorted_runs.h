#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "integration/cli/engine/table_file.h"

// The files of a database as lookups see them: a list of sorted runs, asked from the newest to the
// oldest until one has the key. Each file of level 0 is a run; so is each deeper level.

namespace blocksieve::cli {

/// What a filter of the file is made of, or would be: keys, prefixes or both, as one says that is
/// there; of a file without, versions of keys.
uint64_t FilterKeys(const FileReport& file);

struct SortedRun {
  int level = 0;
  std::vector<const FileReport*> files;  ///< At least one, not owned.
  uint64_t num_keys = 0;                 ///< FilterKeys of all.
  double fpr = 1;                        ///< Of the filters that are there, the mean over the keys.
};

/// The runs of one column family, the newest first.
struct RunList {
  std::string family;
  std::vector<SortedRun> runs;

  uint64_t num_keys() const;
  uint64_t filter_bytes() const;
};

/// By column family. `files` must outlive it and be in the order of Engine::ListFiles.
std::vector<RunList> SortIntoRuns(const std::vector<FileReport>& files);

/// The runs level by level: each span is one level's.
std::vector<std::span<const SortedRun>> ByLevel(const std::vector<SortedRun>& runs);

/// The kind of filter that its files get under kind=auto.
FilterKind KindOf(const SortedRun& run);

/// The runs level by level, as rates are allocated to them.
std::vector<RunGroup> GroupsOf(const std::vector<SortedRun>& runs);

}  // namespace blocksieve::cli
