#include "lib/range/cells.h"

namespace blocksieve::internal {

void AppendCells(std::span<const uint32_t> cells, uint64_t num_cells, BitWriter* out) {
  const CellsShape shape(cells.size(), num_cells);
  uint64_t high = 0;
  for (const uint32_t cell : cells) {
    out->Unary((cell >> shape.low_bits) - high);
    high = cell >> shape.low_bits;
  }
  for (; high <= (num_cells - 1) >> shape.low_bits; ++high) out->Bits(0, 1);
  for (const uint32_t cell : cells) out->Bits(cell & LowBits(shape.low_bits), shape.low_bits);
}

}  // namespace blocksieve::internal
