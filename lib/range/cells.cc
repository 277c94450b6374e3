#include "lib/range/cells.h"

#include <vector>

namespace blocksieve::internal {

void AppendCells(std::span<const uint32_t> cells, uint64_t num_cells, uint64_t cells_per_key,
                 BitWriter* out) {
  const CellsShape shape(cells.size(), num_cells, cells_per_key);
  std::vector<uint64_t> unary(shape.unary_bits / kMaxCodeBits + 1);
  uint64_t index = 0;
  for (const uint32_t cell : cells) {
    const uint64_t position = (cell >> shape.low_bits) + index++;
    unary[position / kMaxCodeBits] |= uint64_t{1} << (position % kMaxCodeBits);
  }
  for (uint64_t i = 0; i < shape.unary_bits; i += kMaxCodeBits) {
    const uint64_t left = shape.unary_bits - i;
    out->Bits(unary[i / kMaxCodeBits],
              left < kMaxCodeBits ? static_cast<unsigned>(left) : kMaxCodeBits);
  }
  for (const uint32_t cell : cells) out->Bits(cell & LowBits(shape.low_bits), shape.low_bits);
}

}  // namespace blocksieve::internal
