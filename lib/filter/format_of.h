#pragma once

#include "lib/block/seal.h"

namespace blocksieve::internal {

/// What blocks of this kind have. REQUIRES: `kind` is one of its enumerators.
const FilterFormat& FormatOf(FilterKind kind) noexcept;

/// DescribeFilterBlock, without the copy of what it says: readers are made for single probes.
Status Describe(ByteView block, FilterInfo* info);

/// The same for a block without a part for ranges.
Status DescribePoints(ByteView block, FilterInfo* info);

}  // namespace blocksieve::internal
