#pragma once

#include <algorithm>
#include <span>

#include "lib/lsm/rate_allocation.h"

// Checks and sums of run groups.

namespace blocksieve::lsm {

/// Errors: InvalidArgument as AllocateRates, for the groups.
Status CheckGroups(std::span<const RunGroup> groups);

inline double NumKeys(const RunGroup& group) noexcept {
  return group.num_runs * group.keys_per_run;
}

inline double NumKeys(std::span<const RunGroup> groups) noexcept {
  double sum = 0;
  for (const RunGroup& group : groups) sum += NumKeys(group);
  return sum;
}

/// Average number of the group's runs that a lookup checks.
inline double RunsPerLookup(const RunGroup& group) noexcept {
  return group.num_runs * group.lookup_share;
}

/// Cost of a bit per key for each read that it saves. Larger than all others for a run that no
/// lookup checks.
inline double KeysPerLookup(const RunGroup& group) noexcept {
  constexpr double kMinShare = 1e-9;
  return group.keys_per_run / std::max(group.lookup_share, kMinShare);
}

}  // namespace blocksieve::lsm
