#include "lib/bloom/cells.h"

#include <cmath>
#include <string>

#include "lib/base/block_memory.h"
#include "lib/base/errors.h"

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

uint64_t MaxSetCells(const BloomLayout& layout) noexcept {
  // The inverse of EstimateCardinality.
  const double m = static_cast<double>(layout.num_bits);
  const double positions =
      static_cast<double>(layout.num_probes) * static_cast<double>(layout.design_keys);
  return static_cast<uint64_t>(-m * std::expm1(positions * std::log1p(-1 / m)));
}

Status CheckFill(const BloomLayout& layout, uint64_t num_set, uint64_t max_set) try {
  if (num_set <= max_set) return Status::Ok();
  const double keys = EstimateCardinality(layout, num_set).keys;
  const std::string estimate =
      std::isfinite(keys) ? "about " + std::to_string(std::llround(keys)) : "far too many";
  return Status::ResourceExhausted("filter is over-full: it holds " + estimate +
                                   " keys; it is designed for " +
                                   std::to_string(layout.design_keys));
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

double FprOfSetCells(const BloomLayout& layout, uint64_t num_set) noexcept {
  return std::pow(static_cast<double>(num_set) / static_cast<double>(layout.num_bits),
                  layout.num_probes);
}

}  // namespace blocksieve::internal
