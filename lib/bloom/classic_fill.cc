#include "lib/bloom/classic_fill.h"

#include <cmath>
#include <string>

#include "lib/base/out_of_memory.h"

namespace blocksieve::internal {

uint64_t MaxSetBits(const BloomLayout& layout) noexcept {
  // The inverse of EstimateCardinality.
  const double m = static_cast<double>(layout.num_bits);
  const double positions =
      static_cast<double>(layout.num_hashes) * static_cast<double>(layout.design_keys);
  return static_cast<uint64_t>(-m * std::expm1(positions * std::log1p(-1 / m)));
}

Status Overfull(const BloomLayout& layout, uint64_t num_set_bits) try {
  const double keys = EstimateCardinality(layout, num_set_bits).keys;
  const std::string estimate =
      std::isfinite(keys) ? "about " + std::to_string(std::llround(keys)) : "far too many";
  return Status::ResourceExhausted("filter is over-full: it holds " + estimate +
                                   " keys; it is designed for " +
                                   std::to_string(layout.design_keys));
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

double FprOfSetBits(const BloomLayout& layout, uint64_t num_set_bits) noexcept {
  return std::pow(static_cast<double>(num_set_bits) / static_cast<double>(layout.num_bits),
                  layout.num_hashes);
}

}  // namespace blocksieve::internal
