#pragma once

#include <optional>
#include <span>
#include <vector>

#include "blocksieve/filter_kind.h"
#include "blocksieve/status.h"

// How to spread filter memory over the sorted runs of a log-structured merge tree. A lookup of an
// absent key asks the filter of every run, and each wrong "may match" costs a useless read of a
// data block, whichever run it is of; a bit per key costs the more the larger the run. So small
// runs get precise filters and the largest a coarse one, or none: Dayan, Athanassoulis and Idreos,
// "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017. With filters of log2(1/FPR) bits per
// key, the FPR of a run would be proportional to its keys; here the memory is what the lookup table
// says.

namespace blocksieve {

/// Sorted runs of one size: the files of level 0, or one deeper level.
struct RunGroup {
  double num_runs = 1;      ///< 0 to 2^30; fractions are for runs that are there at times only.
  double keys_per_run = 0;  ///< 0 to 2^50
  FilterKind kind = FilterKind::kRibbon;  ///< Of its filters: kRibbon or kBlockedBloom.
  /// Of the lookups of absent keys, those that ask one of the runs; 0 to 1. The others look for
  /// keys before, after or between the keys of its files. A run that is rarely asked saves little
  /// by a precise filter.
  double share_of_lookups = 1;
};

/// What the groups of a tree get.
struct RateAllocation {
  /// By group: the target FPR to build its filters with. 1: build none.
  std::vector<double> target_fprs;
  /// Useless data-block reads that a lookup of an absent key is expected to make: the sum, over all
  /// runs, of their filters' FPR, each times its share of the lookups.
  double wasted_reads = 0;
  /// Of all filters, over all keys of the tree, without footers; and without what filters of few
  /// keys take more, because they round up to whole lines or chunks.
  double bits_per_key = 0;
};

/// @{
/// The limits of what may be asked for.
inline constexpr double kMinWastedReads = 1e-6;
inline constexpr double kMaxWastedReads = 100;
inline constexpr double kMinAllocatedBitsPerKey = 0.1;
inline constexpr double kMaxAllocatedBitsPerKey = 32;
/// @}

/// The least memory with at most so many wasted reads per lookup of an absent key. If there are
/// fewer runs than that, no filters.
/// Errors: InvalidArgument if `wasted_reads` is outside its limits or NaN, no group has a key, a
/// number is outside its limits, a kind is another, or no filters of these kinds are so precise;
/// ResourceExhausted without memory.
/// Thread-safe, as is everything in this header.
Result<RateAllocation> AllocateForWastedReads(std::span<const RunGroup> groups,
                                              double wasted_reads);

/// The fewest wasted reads with at most so many bits per key on average. Errors as above; the most
/// precise filters that there are may take less.
Result<RateAllocation> AllocateForBitsPerKey(std::span<const RunGroup> groups, double bits_per_key);

/// How good the filters of a tree shall be, said in one of three ways.
struct RateGoal {
  /// The same FPR for all runs, in the range of ChooseLayout.
  std::optional<double> target_fpr = std::nullopt;
  /// As AllocateForWastedReads.
  std::optional<double> wasted_reads = std::nullopt;
  /// As AllocateForBitsPerKey.
  std::optional<double> bits_per_key = std::nullopt;

  /// Whether rates differ between runs.
  bool differs_by_run() const noexcept { return wasted_reads || bits_per_key; }

  /// Errors: InvalidArgument if more than one is given, or its number is outside its limits.
  Status Check() const;
};

/// What a tree gets for a goal. If it is fewer wasted reads than any filters have, all filters have
/// kMinTargetFpr: a tree may grow more runs than whoever set the goal thought of.
/// Errors: as above; InvalidArgument also as RateGoal::Check, and if no goal is given.
Result<RateAllocation> AllocateRates(std::span<const RunGroup> groups, const RateGoal& goal);

/// What a tree gets whose filters answer for ranges, too (range_filter.h).
struct RangeRateAllocation {
  RateAllocation points;  ///< Of filters for points.
  /// By group: the FPR to build its range filters with.
  std::vector<double> range_fprs;
  /// Useless data-block reads that a seek is expected to make whose range holds no key: the sum of
  /// the rates over all runs.
  double wasted_seek_reads = 0;
  /// Of all range filters, over all keys of the tree.
  double range_bits_per_key = 0;
};

/// @{
/// The limits of the share of seeks.
inline constexpr double kMinSeekFraction = 0.01;
inline constexpr double kMaxSeekFraction = 0.99;
/// @}

/// Spreads one goal over filters for points and for ranges. `seek_fraction` of the reads that find
/// nothing are seeks, and the others lookups; wasted_reads and bits_per_key are of both together.
/// Both kinds of filter take one more bit to halve a rate, so the memory is least where seeks waste
/// as many reads as lookups do, each by its share. REQUIRES: the goal differs by run.
/// Errors: as AllocateRates; InvalidArgument also if `seek_fraction` is outside its limits.
Result<RangeRateAllocation> AllocateRatesWithRanges(std::span<const RunGroup> groups,
                                                    const RateGoal& goal, double seek_fraction);

}  // namespace blocksieve
