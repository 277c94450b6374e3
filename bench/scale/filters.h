#pragma once

#include <cstdint>
#include <vector>

#include "lib/block/filter_info.h"

namespace blocksieve::bench::scale {

/// Measurements of one filter that was probed for each of its keys.
struct FilterResult {
  uint64_t bytes = 0;  ///< Size of the whole block.
  uint64_t false_negatives = 0;
  double fpr = 0;

  // Ratios to the lookup table's figures for the layout:
  double bytes_against_table = 0;
  double fpr_against_table = 0;

  // By turn:
  std::vector<double> build_ns_per_key;  ///< Hashing included.
  std::vector<double> absent_ns;         ///< Per probe of an absent key, one at a time.
};

/// Number of probes for absent keys. At an FPR of 1 %, 420,000 are false positives, so the FPR is
/// known within 0.3 %, two standard deviations.
inline constexpr uint64_t kProbes = 42'000'000;

/// Builds a filter of `num_keys` keys of 16 bytes, and probes it for all of them and for absent
/// keys. Throws Failure.
FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys);

}  // namespace blocksieve::bench::scale
