#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "integration/cli/table_file.h"

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

/// Useless data-block reads per lookup if the filters of the runs have these rates (one for each; 1
/// for no filter). A lookup of an absent key asks all runs, and each rate is the chance of a read:
/// their sum. A lookup of a present key asks the runs that are newer than the one that has it, and
/// is as likely for one key as for any other: the mean over all keys of the sum over newer runs.
/// `absent_fraction`: share of the lookups that are of absent keys, 0 to 1.
double WastedReads(const std::vector<SortedRun>& runs, const std::vector<double>& fprs,
                   double absent_fraction);

}  // namespace blocksieve::cli
