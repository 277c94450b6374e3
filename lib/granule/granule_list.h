#pragma once

#include <cstdint>
#include <span>

#include "blocksieve/granule_set.h"
#include "lib/granule/bit_codes.h"

// The granules of one value: ascending numbers below that of all granules. How many there are is
// coded elsewhere.

namespace blocksieve::internal {

/// Granules of a file, at most. Lists have numbers of 32 bits.
inline constexpr uint64_t kMaxListedGranules = uint64_t{1} << 31;

/// Binary interpolative coding (Moffat and Stuiver, 2000): the middle granule, within what the
/// numbers of those beside it leave, then both halves. Runs take no bits, and no list takes many
/// more than the logarithm of the number of such lists. REQUIRES: granules ascend, below
/// num_granules <= kMaxListedGranules
void AppendGranules(std::span<const uint32_t> granules, uint64_t num_granules, BitWriter* out);

/// Adds the granules of such a list to `set`, or passes over it if that is null. Whatever the bits
/// are, all numbers are below `num_granules`. REQUIRES: count <= num_granules
void ReadGranules(uint64_t count, uint64_t num_granules, BitReader* from, GranuleSet* set);

/// Adds the granules first .. last. REQUIRES: first <= last < set->num_granules()
void AddGranules(uint64_t first, uint64_t last, GranuleSet* set) noexcept;

}  // namespace blocksieve::internal
