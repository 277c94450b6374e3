#pragma once

#include <optional>
#include <span>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"
#include "lib/filter/block_sizing.h"

// Distributes filter memory over the sorted runs of an LSM tree. A lookup of an absent key checks
// the filter of every run. A false positive wastes one block read in any run, but a bit per key
// costs memory in proportion to the run's keys. So small runs get precise filters, and the largest
// a coarse one or none: Dayan, Athanassoulis and Idreos, "Monkey: Optimal Navigable Key-Value
// Store", SIGMOD 2017. There, filters take log2(1/FPR) bits per key and the FPR of a run is
// proportional to its keys; here, sizes come from the lookup table (sizing.h).

namespace blocksieve {

/// Sorted runs of one size: the files of level 0, or one deeper level.
struct RunGroup {
  double num_runs = 1;  ///< Expected number, 0 to 2^30; a fraction if runs exist part of the time.
  double keys_per_run = 0;                ///< Keys in one run, 0 to 2^50.
  FilterKind kind = FilterKind::kRibbon;  ///< One of BuildableFilterKinds().
  /// Share of lookups of absent keys that check the filter of one of these runs, 0 to 1. The others
  /// miss the key ranges of its files. Precise filters save little in runs that are rarely checked.
  double lookup_share = 1;
};

/// @{
/// Limits of the goals in RateGoal.
inline constexpr double kMinWastedReads = 1e-6;
inline constexpr double kMaxWastedReads = 100;
inline constexpr double kMinAllocatedBitsPerKey = 0.1;
inline constexpr double kMaxAllocatedBitsPerKey = 32;
inline constexpr double kMinSeekFraction = 0.01;
inline constexpr double kMaxSeekFraction = 0.99;
/// @}

inline constexpr double kDefaultSeekFraction = 0.5;  ///< Assumed if the share of seeks is unknown.

/// The filter goal of a tree, stated in one of three ways.
struct RateGoal {
  std::optional<double> target_fpr = std::nullopt;  ///< One FPR for all runs; see ChooseLayout.
  /// Maximum wasted reads per lookup of an absent key, with the least memory.
  std::optional<double> wasted_reads = std::nullopt;
  /// Maximum bits per key on average, with the fewest wasted reads. Filters may need less.
  std::optional<double> bits_per_key = std::nullopt;
  /// If set, filters answer range queries, too (FilterOptions::ranges), and the goal covers both:
  /// this share of the reads that find nothing are seeks, the rest lookups. Requires wasted_reads
  /// or bits_per_key.
  std::optional<double> seek_fraction = std::nullopt;

  /// Whether FPRs differ between runs.
  bool differs_by_run() const noexcept { return wasted_reads || bits_per_key; }

  /// Errors: InvalidArgument if more than one goal is given, or a number is outside its limits.
  Status Check() const;
};

/// FPRs by run group, and their cost.
struct RateAllocation {
  std::vector<double> target_fprs;  ///< Target FPR of each group's filters; 1 means no filter.
  /// Wasted reads per lookup of an absent key: the sum over all runs of FPR times lookup share.
  double wasted_reads = 0;
  /// Memory of all filters divided by all keys of the tree. Excludes footers, and the rounding of
  /// filters of few keys to whole lines or chunks.
  double bits_per_key = 0;
  /// False if no filters waste as few reads as the goal allows, because the tree has too many runs.
  /// All rates are then kMinTargetFpr.
  bool is_reached = true;

  /// @{
  /// The same for range filters, if the goal has a seek_fraction. Wasted reads are per bounded seek
  /// over an empty range.
  std::vector<double> range_fprs = {};
  double wasted_seek_reads = 0;
  double range_bits_per_key = 0;
  /// @}
};

/// The optimal FPRs for a goal. A range filter, too, takes one more bit per key to halve its FPR,
/// so memory is least where seeks and lookups, weighted by their shares, waste equally many reads.
/// Errors: those of RateGoal::Check; InvalidArgument if no goal is given, no group has a key, or a
/// number is outside its limits; ResourceExhausted if out of memory.
Result<RateAllocation> AllocateRates(std::span<const RunGroup> groups, const RateGoal& goal);

}  // namespace blocksieve
