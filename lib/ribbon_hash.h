#pragma once

#include <bit>
#include <cstdint>

// What a hash means to a ribbon filter; builder and probes share it. With h the 64-bit hash, all
// arithmetic modulo 2^64:
//
//   chunk         floor(h * number of chunks / 2^64), of the exact product
//   mixed         p xor (p >> 32), where p = h * kRibbonMixer
//   start         8 * first + floor(t * length / 2^29) in virtual slots, where t is the high half
//   of
//                 `mixed` rotated left by the chunk's rotation; first and length are its octets
//   coefficients  (mixed * kRibbonCoefficientMixer) | 1
//   fingerprint   low bits of h
//
// `mixed` is a bijection of h: no two hashes share their rows under every rotation. Its bits are
// independent of the low 24 of h in every window of 32. A start from the low bits of a plain
// product, which depend on the low bits of h alone, is not: with some rotations all fingerprints of
// a region would agree and the region would match everything.

namespace blocksieve::internal {

inline constexpr uint64_t kRibbonMixer = 0x9FB21C651E98DF25u;
inline constexpr uint64_t kRibbonCoefficientMixer = 0x9E3779B97F4A7C15u;

/// Columns that a row covers, from its start on.
inline constexpr uint32_t kRibbonWidth = 64;

/// Slots are given to chunks in multiples of this.
inline constexpr uint32_t kRibbonOctet = 8;

/// The first virtual slots, this many, are folded onto slot 0, and no start is closer than this to
/// the end: so the edges are as densely covered as the middle.
inline constexpr uint32_t kRibbonFold = 32;

inline constexpr uint32_t kRibbonSeeds = 16;
inline constexpr uint32_t kMaxRibbonColumns = 24;

#define BLOCKSIEVE_INLINE inline __attribute__((always_inline))

BLOCKSIEVE_INLINE uint64_t RibbonChunkOf(uint64_t hash, uint64_t num_chunks) noexcept {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_chunks) >> 64);
}

BLOCKSIEVE_INLINE uint64_t RibbonMix(uint64_t hash) noexcept {
  const uint64_t product = hash * kRibbonMixer;
  return product ^ (product >> 32);
}

/// Virtual slot within a chunk of `num_octets` < 2^12. Of `rotation` the low six bits count.
BLOCKSIEVE_INLINE uint32_t RibbonSlotInChunk(uint64_t mixed, uint32_t rotation,
                                             uint32_t num_octets) noexcept {
  const uint64_t turned = std::rotl(mixed, static_cast<int>(rotation));
  return static_cast<uint32_t>(((turned >> 32) * num_octets) >> 29);
}

/// A seed stands for a rotation; the two bits that make up six are from the chunk's place, because
/// they are at hand there.
BLOCKSIEVE_INLINE uint32_t RibbonRotation(uint32_t seed, uint64_t first_octet) noexcept {
  return seed * 4 + static_cast<uint32_t>(first_octet >> 10 & 3);
}

/// Bit i is the coefficient of slot start + i.
BLOCKSIEVE_INLINE uint64_t RibbonCoefficients(uint64_t mixed) noexcept {
  return (mixed * kRibbonCoefficientMixer) | 1;
}

}  // namespace blocksieve::internal
