#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/lsm/rate_allocation.h"

namespace blocksieve::bench::scale {

/// The tree that is computed: leveled, size ratio T = 10, fully compacted. Level i of D
/// is one sorted run of keys * T^(i-1) (T-1) / (T^D-1), in files of up to a million keys. The
/// number of levels, D = 1 + floor(log_T(keys / 10^6)), is the largest at which each has a file.
/// Level 0 is empty. All filters are ribbons.
inline constexpr uint64_t kSizeRatio = 10;
inline constexpr uint64_t kKeysPerFile = 1'000'000;

/// A goal for the filters of a tree, with its name.
struct FilterGoal {
  std::string name;  ///< As in an option string, such as "target_fpr=0.01".
  RateGoal goal;
};

/// The levels of a tree and their filters, according to the lookup table.
struct TreePlan {
  std::vector<uint64_t> level_keys;  ///< From the smallest level to the last.
  double wasted_reads = 0;           ///< Per lookup of an absent key: the sum of the FPRs.
  double filter_bytes = 0;
};

/// Throws Failure.
TreePlan PlanTree(uint64_t num_keys, const FilterGoal& goal);

/// Numbers of keys from 10^6 to 10^12, `per_decade` per decade.
std::vector<uint64_t> ComputedKeys(int per_decade);

}  // namespace blocksieve::bench::scale
