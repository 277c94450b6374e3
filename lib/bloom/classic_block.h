#pragma once

#include <cstdint>

#include "blocksieve/bloom.h"
#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/block/kind.h"

// Filter blocks of classic and counting filters. Their payload is the array of cells.

namespace blocksieve::internal {

extern const KindEntry kClassicBloomKind;
extern const KindEntry kCountingBloomKind;

struct BloomCells {
  BloomLayout layout;
  uint32_t cell_bits = 1;
  OwnedBytes cells;
};

/// `cells` are those of `num_set` set ones; a view. Errors: ResourceExhausted if memory is short.
Result<OwnedBytes> WriteBloomBlock(FilterKind kind, const BloomLayout& layout, uint32_t cell_bits,
                                   ByteView cells, uint64_t num_set);

/// Checks everything, the payload's checksum and the bits beyond its last cell included.
/// Errors: Corruption; NotSupported, also if the block is of another kind; ResourceExhausted.
Result<BloomCells> ReadBloomBlock(FilterKind kind, ByteView block);

}  // namespace blocksieve::internal
