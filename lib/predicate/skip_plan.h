#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/column_index.h"

namespace blocksieve::internal {

/// One question to a ColumnIndex.
struct SkipStep {
  enum class Kind : uint8_t {
    kContaining,
    kContainingAny,
    kOverlapping,
    kDiffering,
    kMissing,
    kPresent
  };

  Kind kind = Kind::kPresent;
  uint64_t hash = 0;              ///< kContaining
  ValueRange range;               ///< kOverlapping; of kDiffering its low
  std::span<const Value> values;  ///< kContainingAny
};

/// How to rule out granules in which a comparison cannot come out in one of its two ways: a granule
/// stays if all steps of at least one alternative keep it.
struct SkipPlan {
  bool can_skip = false;  ///< else there are no alternatives
  /// With none, the comparison never comes out so: no granule stays, and no index is needed.
  std::vector<std::vector<SkipStep>> alternatives;
  std::string reason;  ///< how it skips, or why not; for people
};

}  // namespace blocksieve::internal
