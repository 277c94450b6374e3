#pragma once

#include <cstdint>

#include "lib/block/filter_info.h"

// What a hash means to a ribbon filter; builder and probes share it. With h the 64-bit hash, all
// arithmetic modulo 2^64:
//
//   chunk         floor(h * number of chunks / 2^64), of the exact product
//   mixed         h * kRibbonMixer
//   start         8 * first + floor(t * length / 2^29) in virtual slots, where t is the high half
//                 of mixed * multiplier; first and length are the chunk's octets
//   coefficients  mixed | 1
//   fingerprint   low bits of floor(h / 2^16)
//
// The multiplier is the chunk's entry of the directory: seed and place. It makes the starts of any
// two seeds independent of each other; a rotation does that too, but is two instructions more.
//
// Two things must not depend on each other. Start and fingerprint: else all fingerprints of a
// region would agree, and the region would match everything. That happened with rotations of a
// plain product, the low bits of which come from the low bits of the hash; here starts are the
// highest bits of a product, which depend on all of it. And coefficients and fingerprint must not
// depend on each other linearly: else in filters so small that all rows start alike the solution
// is that relation, and matches everything. That happened with the low bits of the hash as
// fingerprint; bits further up are changed by carries. Mixing further, with shifts and a second
// product, did no better, and was five instructions.

namespace blocksieve::internal {

inline constexpr uint64_t kRibbonMixer = 0x9E3779B97F4A7C15u;

inline constexpr uint32_t kRibbonOctet = RibbonShape::kOctet;
inline constexpr uint32_t kRibbonGroup = RibbonShape::kGroup;

/// Columns that a row covers, from its start on.
inline constexpr uint32_t kRibbonWidth = 64;

/// The first virtual slots, this many, are folded onto slot 0, and no start is closer than this to
/// the end: so the edges are as densely covered as the middle.
inline constexpr uint32_t kRibbonFold = 32;

inline constexpr uint32_t kRibbonSeeds = 16;

/// The bits of a directory entry that are the place; the seed is above.
inline constexpr uint32_t kRibbonEntryMask = 0xfff;

inline constexpr uint32_t kMaxRibbonColumns = 24;

#define BLOCKSIEVE_INLINE inline __attribute__((always_inline))

BLOCKSIEVE_INLINE uint64_t RibbonChunkOf(uint64_t hash, uint64_t num_chunks) noexcept {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_chunks) >> 64);
}

BLOCKSIEVE_INLINE uint64_t RibbonMix(uint64_t hash) noexcept { return hash * kRibbonMixer; }

/// With bits above those that are used.
BLOCKSIEVE_INLINE uint32_t RibbonFingerprint(uint64_t hash) noexcept {
  return static_cast<uint32_t>(hash >> 16);
}

/// Also the chunk's entry of the directory. The multiplier 0, which puts all rows in one place, is
/// one that only a few rows will accept.
BLOCKSIEVE_INLINE uint32_t RibbonMultiplier(uint32_t seed, uint64_t first_octet) noexcept {
  return static_cast<uint32_t>(first_octet & kRibbonEntryMask) | seed << 12;
}

/// Virtual slot within a chunk of `num_octets` < 2^12.
BLOCKSIEVE_INLINE uint32_t RibbonSlotInChunk(uint64_t mixed, uint32_t multiplier,
                                             uint32_t num_octets) noexcept {
  return static_cast<uint32_t>(((mixed * multiplier >> 32) * num_octets) >> 29);
}

/// Bit i is the coefficient of slot start + i.
BLOCKSIEVE_INLINE uint64_t RibbonCoefficients(uint64_t mixed) noexcept { return mixed | 1; }

}  // namespace blocksieve::internal
