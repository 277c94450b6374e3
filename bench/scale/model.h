#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// What the formulas take from measurements of one large filter and of many indexes.
struct Constants {
  double block_bytes = 0;       ///< g: of the largest ribbon, bytes over those of the lookup table.
  double fpr = 0;               ///< f: of the same, measured FPR over that of the lookup table.
  double seconds_per_file = 0;  ///< t: to analyse one index, when there are the most of them.
  double index_bytes = 0;       ///< v: of an index, bytes per row.
};

Constants ConstantsOf(const Results& results);

/// A tree as computed, with one way of asking for filters.
struct ComputedFilters {
  std::string asked;        ///< Asking::name
  double memory_bytes = 0;  ///< g * sum over levels of keys * bits(FPR) / 8
  double wasted_reads = 0;  ///< f * sum over levels of FPR
};

/// A number of keys, as computed.
struct ComputedScale {
  uint64_t keys = 0;
  size_t levels = 0;
  std::vector<ComputedFilters> filters;  ///< As Askings().
  double index_bytes = 0;                ///< v * keys
  double analysis_seconds = 0;           ///< t * keys / kKeysPerFile
};

/// Throws Failure.
ComputedScale Compute(uint64_t num_keys, const Constants& constants);

/// Numbers of keys to compute for: 10^6 to 10^12, eight per decade.
std::vector<uint64_t> ComputedKeys();

}  // namespace blocksieve::bench::scale
