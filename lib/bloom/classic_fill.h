#pragma once

#include <cstdint>

#include "blocksieve/bloom_layout.h"
#include "blocksieve/status.h"

// What classic and counting filters make of the number of their bits, or counters, that are set.

namespace blocksieve::internal {

/// The most set bits whose estimated cardinality does not exceed layout.design_keys.
uint64_t MaxSetBits(const BloomLayout& layout) noexcept;

/// ResourceExhausted, with the estimate and the design size.
Status Overfull(const BloomLayout& layout, uint64_t num_set_bits);

/// (X / m)^k.
double FprOfSetBits(const BloomLayout& layout, uint64_t num_set_bits) noexcept;

}  // namespace blocksieve::internal
