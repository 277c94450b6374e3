#pragma once

#include <cstdint>
#include <vector>

#include "bench/space/space_over_limit.h"
#include "bench/support/targets.h"

namespace blocksieve::bench::space {

/// Filters of one shape.
struct SpaceResult {
  FilterKind kind = FilterKind::kRibbon;
  double target_fpr = 0;
  uint64_t keys = 0;
  SpaceMeasurement measured;
};

struct MemoryResult {
  FilterKind kind = FilterKind::kRibbon;
  uint64_t keys = 0;
  double bytes_per_key = 0;
};

/// What ribbons are to reach.
Targets JudgeTargets(const std::vector<SpaceResult>& space,
                     const std::vector<MemoryResult>& memory);

}  // namespace blocksieve::bench::space
