#pragma once

#include <optional>
#include <span>
#include <vector>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

// Spreads filter memory over the sorted runs of a log-structured merge tree. A lookup of an absent
// key checks the filter of every run, and each false positive costs a wasted read of a data block.
// That costs the same in every run, but a bit per key costs more memory the larger the run. So
// small runs get precise filters, and the largest run a coarse one or none: Dayan, Athanassoulis
// and Idreos, "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017. With filters of log2(1/FPR)
// bits per key, the FPR of a run would be proportional to its keys; here the memory is what the
// lookup table says.
//
// Everything in this header is thread-safe.

namespace blocksieve {

/// Sorted runs of one size: the files of level 0, or one deeper level.
struct RunGroup {
  /// Expected number of runs, 0 to 2^30. Fractions are for runs that exist part of the time.
  double num_runs = 1;
  double keys_per_run = 0;                ///< 0 to 2^50
  FilterKind kind = FilterKind::kRibbon;  ///< One of BuildableFilterKinds().
  /// Share of the lookups of absent keys that check one of the runs, 0 to 1. The others are for
  /// keys before, after or between the keys of its files. A precise filter saves little in a run
  /// that is rarely checked.
  double lookup_share = 1;
};

/// @{
/// Limits of the goals.
inline constexpr double kMinWastedReads = 1e-6;
inline constexpr double kMaxWastedReads = 100;
inline constexpr double kMinAllocatedBitsPerKey = 0.1;
inline constexpr double kMaxAllocatedBitsPerKey = 32;
inline constexpr double kMinSeekFraction = 0.01;
inline constexpr double kMaxSeekFraction = 0.99;
/// @}

/// The share of seeks, where it is not known: they count as much as lookups.
inline constexpr double kDefaultSeekFraction = 0.5;

/// The filter goal of a tree, stated in one of three ways.
struct BLOCKSIEVE_EXPORT RateGoal {
  /// The same FPR for all runs, in the range of ChooseLayout.
  std::optional<double> target_fpr = std::nullopt;

  /// Most wasted reads per lookup of an absent key, for the least memory.
  std::optional<double> wasted_reads = std::nullopt;

  /// Most bits per key on average, for the fewest wasted reads. The most precise filters that there
  /// are may take less.
  std::optional<double> bits_per_key = std::nullopt;

  /// If set, filters answer for ranges, too (FilterOptions::ranges), and the goal is for both kinds
  /// of reads together: this share of the reads that find nothing are seeks, the others lookups.
  /// Only with wasted_reads or bits_per_key.
  std::optional<double> seek_fraction = std::nullopt;

  /// Whether rates differ between runs.
  bool differs_by_run() const noexcept { return wasted_reads || bits_per_key; }

  /// Errors: InvalidArgument if more than one goal is given, or a number is outside its limits.
  Status Check() const;
};

/// Rates by run group, and what they cost.
struct RateAllocation {
  /// By group: the target FPR to build its filters with. 1: build none.
  std::vector<double> target_fprs;
  /// Wasted reads per lookup of an absent key: the sum of the FPR of all runs, each times its
  /// lookup share.
  double wasted_reads = 0;
  /// Memory of all filters, over all keys of the tree. It leaves out footers, and what filters of
  /// few keys take more because they round up to whole lines or chunks.
  double bits_per_key = 0;
  /// False if no filters waste as few reads as the goal says. All rates are then kMinTargetFpr: a
  /// tree may grow more runs than the goal was set for.
  bool is_reached = true;

  /// @{
  /// The same for range filters, if the goal has a share of seeks. Wasted reads are per bounded
  /// seek whose range holds no key.
  std::vector<double> range_fprs = {};
  double wasted_seek_reads = 0;
  double range_bits_per_key = 0;
  /// @}
};

/// The best rates for a goal. Range filters, too, take one more bit to halve a rate, so with a
/// share of seeks the memory is least where seeks waste as many reads as lookups do, each by its
/// share.
/// Errors: InvalidArgument as RateGoal::Check, or if no goal is given, no group has a key, a number
/// is outside its limits, or a kind is another; ResourceExhausted without memory.
BLOCKSIEVE_EXPORT Result<RateAllocation> AllocateRates(std::span<const RunGroup> groups,
                                                       const RateGoal& goal);

}  // namespace blocksieve
