#pragma once

#include <cstdint>

#include "blocksieve/bloom_layout.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

namespace blocksieve::internal {

/// The array of a classic or counting filter, all zero. Errors: ResourceExhausted if memory is
/// short.
Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits);

}  // namespace blocksieve::internal
