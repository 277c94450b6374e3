#pragma once

#include <cstdint>

#include "blocksieve/status.h"
#include "lib/block/filter_info.h"
#include "lib/block/kind.h"

// The functions of blocksieve/sizing.h for blocked Bloom filters.

namespace blocksieve::internal {

Result<Layout> ChooseBloomLayout(double target_fpr);
Result<Layout> BloomLayoutForBitsPerKey(double bits_per_key);
uint64_t BloomPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
uint64_t MaxBloomKeys(const Layout& layout, uint64_t payload_bytes) noexcept;
std::string BloomLayoutText(const Layout& layout);

inline constexpr KindSizing kBloomSizing = {.choose_layout = &ChooseBloomLayout,
                                            .layout_for_bits_per_key = &BloomLayoutForBitsPerKey,
                                            .payload_bytes = &BloomPayloadBytes,
                                            .max_keys = &MaxBloomKeys,
                                            .layout_text = &BloomLayoutText};

}  // namespace blocksieve::internal
