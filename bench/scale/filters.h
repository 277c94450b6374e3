#pragma once

#include <array>
#include <cstdint>

#include "lib/block/filter_info.h"

namespace blocksieve::bench::scale {

/// Measurements of one filter that was probed for each of its keys.
struct FilterResult {
  uint64_t bytes = 0;             ///< Size of the whole block.
  uint64_t peak_build_bytes = 0;  ///< Peak resident memory of building, including the block.
  uint64_t false_negatives = 0;
  double fpr = 0;

  // Ratios to the lookup table's figures for the layout:
  double bytes_against_table = 0;
  double fpr_against_table = 0;

  // By turn. There are few: the largest filters take half a minute each.
  std::array<double, 3> build_ns_per_key = {};  ///< Hashing included.
  std::array<double, 3> absent_ns = {};         ///< Per probe of an absent key, one at a time.
};

/// Number of probes for absent keys. At an FPR of 1 %, 420,000 are false positives, so the FPR is
/// known within 0.3 %, two standard deviations.
inline constexpr uint64_t kProbes = 42'000'000;

/// In a process of its own, builds a filter of `num_keys` keys of 16 bytes, and probes it for all
/// of them and for absent keys. Throws Failure.
FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys);

}  // namespace blocksieve::bench::scale
