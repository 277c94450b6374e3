#pragma once

#include <cstdint>

#include "blocksieve/status.h"
#include "lib/block/filter_info.h"
#include "lib/block/kind.h"

// The functions of blocksieve/sizing.h for blocked Bloom filters, and for classic ones, whose
// BloomLayout is chosen by them.

namespace blocksieve::internal {

// REQUIRES: `kind` is kBlockedBloom or kClassicBloom.
Result<Layout> ChooseBloomLayout(FilterKind kind, double target_fpr);
Result<Layout> BloomLayoutForBitsPerKey(FilterKind kind, double bits_per_key);
uint64_t BloomPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
uint64_t MaxBloomKeys(const Layout& layout, uint64_t payload_bytes) noexcept;
std::string BloomLayoutText(const Layout& layout);

template <FilterKind kind>
inline constexpr KindSizing kBloomSizing = {
    .choose_layout = [](double target_fpr) { return ChooseBloomLayout(kind, target_fpr); },
    .layout_for_bits_per_key =
        [](double bits_per_key) { return BloomLayoutForBitsPerKey(kind, bits_per_key); },
    .payload_bytes = &BloomPayloadBytes,
    .max_keys = &MaxBloomKeys,
    .layout_text = &BloomLayoutText};

}  // namespace blocksieve::internal
