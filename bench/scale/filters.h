#pragma once

#include <array>
#include <cstdint>

#include "bench/scale/model.h"
#include "lib/block/filter_info.h"

namespace blocksieve::bench::scale {

/// One filter over many keys, every one of which it was asked for.
struct FilterResult {
  uint64_t bytes = 0;             ///< Of the whole block.
  uint64_t peak_build_bytes = 0;  ///< Resident at the peak of building, the block included.
  uint64_t false_negatives = 0;
  double fpr = 0;

  // Over what the lookup table says of the layout:
  double bytes_against_table = 0;
  double fpr_against_table = 0;

  // By turn, of which there are few: the largest filters take half a minute each.
  std::array<double, 3> build_ns_per_key = {};  ///< Hashing included.
  std::array<double, 3> absent_ns = {};  ///< Per probe of an absent key, one after the other.
};

/// The filters of all files of a tree, built for real.
struct TreeResult {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t false_negatives = 0;
  double wasted_reads = 0;  ///< Filters per lookup of an absent key that said "may match".
};

/// Absent keys that a filter is probed for. Of a filter of 1 %, 420,000 are false positives: its
/// rate is known within 0.3 %, two standard deviations.
inline constexpr uint64_t kProbes = 42'000'000;

/// Builds one filter of `num_keys` keys of 16 bytes in a process of its own, asks it for every one
/// of them, and probes absent keys. Throws Failure.
FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys);

/// Builds the filters of every file of the planned tree, asks each for all of its keys, and looks
/// absent keys up: of each level, in the file whose range they are in. In a process of its own.
/// Throws Failure.
TreeResult MeasureTree(const TreePlan& plan);

}  // namespace blocksieve::bench::scale
