#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_info.h"
#include "blocksieve/status.h"
#include "lib/block/kind.h"

namespace blocksieve::internal {

extern const KindEntry kRibbonKind;

/// The block that is to be expected, for its size.
FilterInfo PlanRibbon(const Layout& layout, uint64_t num_keys, uint64_t hash_seed) noexcept;

/// Makes a filter block of `hashes`. Leaves them as they are if `keep` is set. Otherwise frees them
/// on the way; if it fails they are still there, unless memory ran out half-way.
/// Errors: ResourceExhausted if the memory in use would exceed `max_build_bytes` (0: no limit), if
/// there is none left, if the block would reach 4 GiB, or, never seen with real hashes, if there is
/// no solution.
/// REQUIRES: hashes->size() > 0.
Result<OwnedBytes> BuildRibbonBlock(HashList* hashes, bool keep, const Layout& layout,
                                    uint64_t hash_seed, uint64_t max_build_bytes);

}  // namespace blocksieve::internal
