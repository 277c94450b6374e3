#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "integration/cli/engine/engine.h"
#include "integration/cli/engine/sorted_runs.h"

// Which lookups ask which sorted run. A run is asked for keys between the first and the last key of
// one of its files, so most lookups pass by a run with few or neighbouring keys.

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

/// The coverage if every lookup asks every run.
RunCoverage WholeCoverage(const std::vector<SortedRun>& runs);

/// The share of a file's entries, 0 to 1, that are before a key between its first and its last one.
using ShareBefore = std::function<double(const FileReport& file, std::string_view key)>;

/// By reading the files. A file that cannot be read has half of its entries before every key. The
/// engine must outlive it.
ShareBefore ShareBeforeIn(const Engine& engine);

/// The coverage by the key ranges of the files. Stretches lie between neighbours among the first
/// and last keys of all files. In each, a run has n(run) keys, estimated with `share_before`.
/// Lookups are assumed to be distributed like the keys of the database: the share of a stretch is
/// proportional to
///
///   max over runs of n(run)
///
/// The sum would count twice the keys that a newer run overwrites. Where runs have different keys
/// in the same places, like the levels of a tree, the largest run shows how the keys are
/// distributed. WholeCoverage if the range of a file is not known, or no stretch has keys.
RunCoverage CoverageOf(const std::vector<SortedRun>& runs, const ShareBefore& share_before);

/// For each run, the share of the lookups that ask it.
std::vector<double> SharesOf(const RunCoverage& coverage, size_t num_runs);

/// The same as a policy sees them for which no run has less than `least_share`.
std::vector<double> KnownShares(const RunCoverage& coverage, size_t num_runs, double least_share);

/// Useless data-block reads per lookup if the filters of the runs have the rates `fprs`, one for
/// each run (1: no filter). A lookup of an absent key asks all runs of its stretch, and reads a
/// block in vain with the rate of each:
///
///   sum over stretches of share × (sum over its runs of rate)
///
/// A lookup of a present key, each with the same chance, wastes reads only in the runs that are
/// newer than the run that has the key: the mean over all keys of the sum over newer runs.
/// `absent_fraction`: the share of the lookups that are of absent keys, 0 to 1.
double WastedReads(const RunCoverage& coverage, const std::vector<double>& fprs,
                   double absent_fraction);

}  // namespace blocksieve::cli
