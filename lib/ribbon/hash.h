#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "lib/base/coding.h"

// The row of a hash in a ribbon filter, for builder and probes. lib/FORMAT.md has the formulas.
//
// The multiplier of a chunk is its directory entry: seed and place. It makes the starts of any two
// seeds independent. Start and fingerprint must be independent, too; otherwise all fingerprints of
// a region would agree, and the region would match everything. So starts are the highest bits of a
// product, which depend on all bits. Coefficients and fingerprint must be linearly independent;
// otherwise, in filters so small that all rows have the same start, the solution is that linear
// relation, and matches everything. lib/RIBBON.md lists what failed in one of these ways.

namespace blocksieve::internal {

inline constexpr uint64_t kRibbonMixer = 0x9E3779B97F4A7C15u;

/// Chunks have a multiple of this many slots.
inline constexpr uint32_t kRibbonOctet = 8;
/// Chunks per base of the directory; their slots stay below 2^12 octets.
inline constexpr uint32_t kRibbonGroup = 32;

/// Number of columns that a row covers.
inline constexpr uint32_t kRibbonWidth = 64;

/// Number of virtual slots at the beginning that are folded onto slot 0. No start is closer than
/// this to the end. So rows cover the edges as densely as the middle.
inline constexpr uint32_t kRibbonFold = 32;

inline constexpr uint32_t kRibbonSeeds = 16;

/// The bits of the place in a directory entry; the seed is above.
inline constexpr uint32_t kRibbonEntryMask = 0xfff;

inline constexpr uint32_t kMaxRibbonColumns = 24;

BLOCKSIEVE_INLINE uint64_t RibbonChunkOf(uint64_t hash, uint64_t num_chunks) noexcept {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_chunks) >> 64);
}

BLOCKSIEVE_INLINE uint64_t RibbonMix(uint64_t hash) noexcept { return hash * kRibbonMixer; }

/// The fingerprint in the low bits; other bits follow above it.
BLOCKSIEVE_INLINE uint32_t RibbonFingerprint(uint64_t hash) noexcept {
  return static_cast<uint32_t>(hash >> 16);
}

/// The multiplier, and directory entry, of a chunk. Multiplier 0 puts all rows in one place, so it
/// succeeds only with a few rows.
BLOCKSIEVE_INLINE uint32_t RibbonMultiplier(uint32_t seed, uint64_t first_octet) noexcept {
  return static_cast<uint32_t>(first_octet & kRibbonEntryMask) | seed << 12;
}

/// The virtual slot of a row within a chunk. REQUIRES: num_octets < 2^12
BLOCKSIEVE_INLINE uint32_t RibbonSlotInChunk(uint64_t mixed, uint32_t multiplier,
                                             uint32_t num_octets) noexcept {
  return static_cast<uint32_t>(((mixed * multiplier >> 32) * num_octets) >> 29);
}

/// Bit i is the coefficient of slot start + i.
BLOCKSIEVE_INLINE uint64_t RibbonCoefficients(uint64_t mixed) noexcept { return mixed | 1; }

}  // namespace blocksieve::internal
