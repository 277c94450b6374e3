#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

#include "blocksieve/hash.h"
#include "lib/base/coding.h"

// XXH3 is compiled into the kernels: for short keys, a call costs as much as the hash. All
// functions of the header become static, so that no two translation units share one.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace blocksieve {

/// Keys up to this length are hashed in a few instructions. Hot paths hash longer keys in a
/// separate function: inlined, XXH3's branches for them would make every call save and restore
/// registers, which costs as much as hashing a short key.
inline constexpr size_t kShortKeyBytes = 16;

/// HashKey(key, seed). REQUIRES: key.size() <= kShortKeyBytes.
static inline __attribute__((always_inline)) uint64_t HashShortKey(std::string_view key,
                                                                   uint64_t seed) noexcept {
  assert(key.size() <= kShortKeyBytes);
  if (key.size() > kShortKeyBytes) __builtin_unreachable();
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

/// The words that XXH3 combines with the first and last eight bytes of keys of 9 to 16 bytes. An
/// open filter stores both.
constexpr uint64_t FirstHashFlip(uint64_t seed) noexcept { return 0x6782737BEA4239B9u + seed; }
constexpr uint64_t LastHashFlip(uint64_t seed) noexcept { return 0xAF56BC3B0996523Au - seed; }

static inline __attribute__((always_inline)) bool IsMediumKey(std::string_view key) noexcept {
  return key.size() - 9 <= kShortKeyBytes - 9;
}

/// HashKey(key, seed), given FirstHashFlip(seed) and LastHashFlip(seed). REQUIRES:
/// IsMediumKey(key).
static inline __attribute__((always_inline)) uint64_t HashMediumKey(std::string_view key,
                                                                    uint64_t first_flip,
                                                                    uint64_t last_flip) noexcept {
  assert(IsMediumKey(key));
  const auto* bytes = reinterpret_cast<const uint8_t*>(key.data());
  const uint64_t first = LoadLittleEndian<uint64_t>(bytes) ^ first_flip;
  const uint64_t last = LoadLittleEndian<uint64_t>(bytes + key.size() - 8) ^ last_flip;
  const auto product = static_cast<unsigned __int128>(first) * last;
  const uint64_t folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  uint64_t hash = key.size() + __builtin_bswap64(first) + last + folded;
  hash ^= hash >> 37;
  hash *= 0x165667919E3779F9u;
  return hash ^ (hash >> 32);
}

}  // namespace blocksieve
