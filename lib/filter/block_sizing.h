#pragma once

#include <cstdint>
#include <vector>

#include "blocksieve/sizing.h"
#include "lib/block/filter_info.h"

// Sizes of filter blocks, which have a footer after the payload that blocksieve/sizing.h sizes.
// Blocks are without parts for ranges.
namespace blocksieve {

/// The kinds that FilterBuilder builds, in the order of their values.
std::vector<FilterKind> BuildableFilterKinds();

/// The inverse of PayloadBytes: the maximum number of keys whose payload fits in `payload_bytes`;
/// PayloadBytes(layout, MaxKeys(layout, b)) <= b < PayloadBytes(layout, MaxKeys(layout, b) + 1),
/// for b up to 2^60 and at least one bit per key. UINT64_MAX on overflow.
uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// The expected footer of the block for `num_keys` keys.
FilterInfo PlanBlock(const Layout& layout, uint64_t num_keys) noexcept;

/// Bytes of that block; for a ribbon, within a few bytes and 0.1 %. UINT64_MAX if 2^63 or more.
uint64_t BlockBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// The inverse of BlockBytes: the maximum number of keys whose block fits in `block_bytes`, or 0.
uint64_t MaxBlockKeys(const Layout& layout, uint64_t block_bytes) noexcept;

/// The layout of lowest FPR whose block for `num_keys` keys fits in `block_bytes`; the smallest
/// layout of the kind if none fits.
Layout LayoutForBlockBytes(FilterKind kind, uint64_t num_keys, uint64_t block_bytes);

}  // namespace blocksieve
