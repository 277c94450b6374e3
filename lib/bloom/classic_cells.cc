#include "lib/bloom/classic_cells.h"

#include <string>

#include "lib/base/block_memory.h"
#include "lib/base/out_of_memory.h"
#include "lib/bloom/counting_cells.h"

namespace blocksieve::internal {

Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits) try {
  const uint64_t size = CellBytes(layout.num_bits, cell_bits);
  OwnedBytes cells = AllocateBlock(size, 0);
  if (cells.memory == nullptr) {
    return Status::ResourceExhausted("no memory for a filter of " + std::to_string(size) +
                                     " bytes");
  }
  return cells;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

}  // namespace blocksieve::internal
