#pragma once

#include <optional>
#include <vector>

#include "blocksieve/rate_allocation.h"
#include "lib/lsm/coverage.h"

namespace blocksieve::lsm {

/// A sorted run: a file of level 0, or all files of a deeper level.
struct Run {
  int level = 0;
  double num_keys = 0;
};

/// By number of the level, as AllocateByLevel takes them. The kinds are left to the caller.
using Levels = std::vector<RunGroup>;

bool HasKeys(const Levels& levels);

/// The kinds of filters under kind=auto: a file that the next compaction rewrites gets the fastest
/// kind, since every lookup probes its filter. What compactions and bulk loads write stays, and
/// gets the smallest kind. Measured with a million keys (bench/run filters), ribbon takes a third
/// less space, but 2.6 times as long to build and 1.8 times as long to probe.
FilterKind AutoKind(bool is_short_lived) noexcept;

/// Sets the kinds of all levels by AutoKind, or to `kind` if it is given.
void SetKinds(std::optional<FilterKind> kind, bool level0_is_short_lived, Levels* levels);

/// An LSM tree as lookups see it: sorted runs, which they check from the newest to the oldest until
/// one has the key.
class Tree {
 public:
  Tree() = default;

  /// `runs`: the newest first, those of a level side by side. `coverage`: empty if it is not known,
  /// so that every lookup checks every run.
  explicit Tree(std::vector<Run> runs, Coverage coverage = {});

  const std::vector<Run>& runs() const { return runs_; }

  /// By run, the share of the lookups that check it.
  std::vector<double> LookupShares() const;

  /// The levels down to the last one that has a run; at least level 0.
  Levels ToLevels() const;

  /// Wasted data-block reads per lookup if the filters of the runs have the rates `fprs`, one for
  /// each run (1: no filter). A lookup of an absent key checks all runs of its stretch, and wastes
  /// a read with the rate of each:
  ///
  ///   sum over stretches of share × (sum over its runs of rate)
  ///
  /// A lookup of a present key, each with the same chance, wastes reads only in the runs that are
  /// newer than the run that has the key: the mean over all keys of the sum over newer runs.
  /// `absent_fraction`: the share of the lookups that are of absent keys, 0 to 1.
  ///
  /// A bounded seek whose range holds no key is to range filters what a lookup of an absent key is
  /// to filters for points.
  double WastedReads(const std::vector<double>& fprs, double absent_fraction) const;

 private:
  std::vector<Run> runs_;
  Coverage coverage_;
};

}  // namespace blocksieve::lsm
