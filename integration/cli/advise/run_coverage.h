#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "integration/cli/engine/sorted_runs.h"

// Which lookups ask which sorted run. A run is asked for keys that lie between the first and the
// last key of one of its files, so one of few or neighbouring keys is left alone by most lookups.

namespace blocksieve::cli {

/// The keys of a run that lie in a stretch.
struct RunPart {
  size_t run = 0;  ///< Its place in the list of runs.
  double num_keys = 0;
};

/// Keys for which the same runs are asked.
struct KeyStretch {
  double share = 0;            ///< Of the lookups; of all stretches 1, or less if some ask no run.
  std::vector<RunPart> parts;  ///< The newest first.
};

using RunCoverage = std::vector<KeyStretch>;

/// As if every lookup asked every run.
RunCoverage WholeCoverage(const std::vector<SortedRun>& runs);

/// The share of a file's entries, 0 to 1, that are before a key between its first and its last one.
using ShareBefore = std::function<double(const FileReport& file, std::string_view key)>;

/// From the files' ranges of keys. Stretches lie between neighbours among all first and last keys
/// of files; in each, a run has n(run) keys, as `share_before` tells. Lookups are taken to be
/// distributed as the keys of the database: the share of a stretch is in proportion to
///
///   max over runs of n(run)
///
/// The sum would count keys twice that a newer run overwrites; where runs have different keys in
/// the same places, as in the levels of a tree, the largest of them shows how these are
/// distributed. WholeCoverage if a file does not say its range, or no stretch has keys.
RunCoverage CoverageOf(const std::vector<SortedRun>& runs, const ShareBefore& share_before);

/// By run, the share of lookups that ask it.
std::vector<double> SharesOf(const RunCoverage& coverage, size_t num_runs);

/// Useless data-block reads per lookup if the filters of the runs have these rates (one for each; 1
/// for no filter). A lookup of an absent key asks all runs of its stretch, and each rate is the
/// chance of a read:
///
///   sum over stretches of share × (sum over its runs of rate)
///
/// A lookup of a present key asks those of them that are newer than the run that has it, and is as
/// likely for one key as for any other: the mean over all keys of the sum over newer runs.
/// `absent_fraction`: share of the lookups that are of absent keys, 0 to 1.
double WastedReads(const RunCoverage& coverage, const std::vector<double>& fprs,
                   double absent_fraction);

}  // namespace blocksieve::cli
