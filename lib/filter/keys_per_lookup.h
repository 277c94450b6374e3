#pragma once

#include <algorithm>

#include "blocksieve/rate_allocation.h"

namespace blocksieve::internal {

/// What a bit per key costs for each read that it saves. Of a run that nobody asks, more than
/// anything else.
inline double KeysPerLookup(const RunGroup& group) noexcept {
  constexpr double kLeastShare = 1e-9;
  return group.keys_per_run / std::max(group.share_of_lookups, kLeastShare);
}

}  // namespace blocksieve::internal
