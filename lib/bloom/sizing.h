#pragma once

#include <cstdint>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

// The functions of blocksieve/sizing.h for blocked Bloom filters.

namespace blocksieve::internal {

Result<Layout> ChooseBloomLayout(double target_fpr);
Result<Layout> BloomLayoutForBitsPerKey(double bits_per_key);
uint64_t BloomPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
uint64_t MaxBloomKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

}  // namespace blocksieve::internal
