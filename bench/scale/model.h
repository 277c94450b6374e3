#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  double filter_bytes = 0;
};

/// Keys of a level of a plan are divided evenly among this many files.
uint64_t NumFiles(uint64_t level_keys);

/// Throws Failure.
TreePlan PlanTree(uint64_t num_keys, const Asking& asking);

/// Numbers of keys to compute for: 10^6 to 10^12, this many per decade.
std::vector<uint64_t> ComputedKeys(int per_decade);

}  // namespace blocksieve::bench::scale
