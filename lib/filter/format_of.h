#pragma once

#include "lib/block/seal.h"

namespace blocksieve::internal {

/// What blocks of this kind have. REQUIRES: `kind` is one of its enumerators.
const FilterFormat& FormatOf(FilterKind kind) noexcept;

}  // namespace blocksieve::internal
