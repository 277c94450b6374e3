#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/scale/results.h"
#include "blocksieve/rate_allocation.h"

namespace blocksieve::bench::scale {

/// The tree that is computed, and built: leveled, size ratio T = 10, at rest. Level i of D is one
/// sorted run of keys * T^(i-1) (T-1) / (T^D-1), of files of up to a million keys, and there are as
/// many levels, D = 1 + floor(log_T(keys / 10^6)), as have a file each. Level 0 is empty. All
/// filters are ribbons.
inline constexpr uint64_t kSizeRatio = 10;
inline constexpr uint64_t kKeysPerFile = 1'000'000;

/// A way of asking for filters.
struct Asking {
  std::string name;  ///< As in an option string: "target_fpr=0.01".
  RateGoal goal;
};

/// Those that are compared.
const std::vector<Asking>& Askings();

/// What a tree gets, as the lookup table says.
struct TreePlan {
  std::vector<uint64_t> level_keys;  ///< From the smallest level to the last.
  std::vector<double> target_fprs;   ///< By level; 1: no filters.
  double wasted_reads = 0;           ///< Per lookup of an absent key: the sum of the FPRs.
  double bits_per_key = 0;
};

/// Keys of a level of a plan are divided evenly among so many files.
uint64_t NumFiles(uint64_t level_keys);

/// Throws Failure.
TreePlan PlanTree(uint64_t num_keys, const Asking& asking);

/// What the formulas take from measurements of one large filter and of many indexes.
struct Constants {
  double block_bytes = 0;       ///< g: of the largest ribbon, bytes over those of the lookup table.
  double fpr = 0;               ///< f: of the same, measured FPR over that of the lookup table.
  double seconds_per_file = 0;  ///< t: to analyse one index, when there are the most of them.
  double index_bytes = 0;       ///< v: of an index, bytes per row.
};

Constants ConstantsOf(const Measurements& measured);

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
