#pragma once

#include <cstdint>

#include "blocksieve/layout.h"
#include "blocksieve/status.h"

// What blocksieve/sizing.h has, for Bloom filters: blocked ones, and classic ones to choose their
// BloomLayout by.

namespace blocksieve::internal {

Result<Layout> ChooseBloomLayout(FilterKind kind, double target_fpr);
Result<Layout> BloomLayoutForBitsPerKey(FilterKind kind, double bits_per_key);
uint64_t BloomPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
uint64_t MaxBloomKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

}  // namespace blocksieve::internal
