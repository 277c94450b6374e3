#pragma once

#include <optional>
#include <vector>

#include "lib/lsm/coverage.h"
#include "lib/lsm/rate_allocation.h"

namespace blocksieve::lsm {

/// A sorted run: one file of level 0, or all files of a deeper level.
struct Run {
  int level = 0;
  double num_keys = 0;
};

/// Run groups by level number, as in AllocateByLevel. The caller sets the kinds.
using Levels = std::vector<RunGroup>;

bool HasKeys(const Levels& levels);

/// The filter kind under kind=auto. A file that the next compaction rewrites gets the fastest kind,
/// because every lookup probes its filter. Files of compactions and bulk loads live long and get
/// the smallest kind. Measured with a million keys (bench/run filters), ribbon takes a third less
/// space, but 2.6 times as long to build and 1.8 times as long to probe.
FilterKind AutoKind(bool is_short_lived) noexcept;

/// Sets the kinds of all levels to `kind`, or by AutoKind if it is nullopt.
void SetKinds(std::optional<FilterKind> kind, bool level0_is_short_lived, Levels* levels);

/// An LSM tree: sorted runs, which lookups check from the newest to the oldest until one has the
/// key.
class Tree {
 public:
  Tree() = default;

  /// `runs` are ordered from newest to oldest, with the runs of a level adjacent. If `coverage` is
  /// empty, it is unknown, and every lookup checks every run.
  explicit Tree(std::vector<Run> runs, Coverage coverage = {});

  const std::vector<Run>& runs() const { return runs_; }

  /// Share of the lookups that check each run.
  std::vector<double> LookupShares() const;

  /// The levels down to the last one with a run; at least level 0.
  Levels ToLevels() const;

  /// Wasted data-block reads per lookup if the filters of run i have the FPR fprs[i] (1: no
  /// filter). A lookup of an absent key checks all runs of its segment, and each wastes a read with
  /// its FPR:
  ///
  ///   sum over segments of lookup share × (sum over its runs of FPR)
  ///
  /// A lookup of a present key (all equally likely) wastes reads only in runs newer than the key's:
  /// the mean over all keys of the sum of FPRs over newer runs. `absent_fraction` is the share of
  /// lookups of absent keys, 0 to 1.
  ///
  /// The same holds for range filters and bounded seeks over an empty range.
  double WastedReads(const std::vector<double>& fprs, double absent_fraction) const;

 private:
  std::vector<Run> runs_;
  Coverage coverage_;
};

}  // namespace blocksieve::lsm
