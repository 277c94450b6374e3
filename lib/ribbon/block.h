#pragma once

#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_block.h"
#include "blocksieve/internal/hash_list.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"

namespace blocksieve::internal {

/// A filter block as it is to be expected, for its size.
FilterInfo PlanRibbonBlock(const Layout& layout, uint64_t num_keys, uint64_t hash_seed) noexcept;

/// Makes a filter block of `hashes`, of which there is one at least. Leaves them as they are if
/// `keep` is set, and else frees them on the way, unless it fails: then they are still there,
/// unless memory ran out half-way.
/// Errors: ResourceExhausted if the memory in use would exceed `max_build_bytes` (0: no limit), if
/// there is none left, if the block would reach 4 GiB, or, never seen with real hashes, if there is
/// no solution.
Result<OwnedBytes> BuildRibbonBlock(HashList* hashes, bool keep, const Layout& layout,
                                    uint64_t hash_seed, uint64_t max_build_bytes);

}  // namespace blocksieve::internal
