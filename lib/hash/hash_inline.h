#pragma once  // SPDX-License-Identifier: Apache-2.0

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

/// XXH3's seed for HashKey(key, 0): the first 64 bits of the fraction of e. Applications spread
/// keys by XXH3 with seed 0, or with a small one. With the same hash, the filters of a shard would
/// hold keys whose bits agree, and absent keys of the shard would match.
inline constexpr uint64_t kKeyHashSeed = 0xB7E151628AED2A6Bu;

/// The words of XXH3's secret.
inline constexpr uint64_t kHashSecret[24] = {
    0xBE4BA423396CFEB8u, 0x1CAD21F72C81017Cu, 0xDB979083E96DD4DEu, 0x1F67B3B7A4A44072u,
    0x78E5C0CC4EE679CBu, 0x2172FFCC7DD05A82u, 0x8E2443F7744608B8u, 0x4C263A81E69035E0u,
    0xCB00C391BB52283Cu, 0xA32E531B8B65D088u, 0x4EF90DA297486471u, 0xD8ACDEA946EF1938u,
    0x3F349CE33F76FAA8u, 0x1D4F0BC7C7BBDCF9u, 0x3159B4CD4BE0518Au, 0x647378D9C97E9FC8u,
    0xC3EBD33483ACC5EAu, 0xEB6313FAFFA081C5u, 0x49DAF0B751DD0D17u, 0x9E68D429265516D3u,
    0xFCA1477D58BE162Bu, 0xCE31D07AD1B8F88Fu, 0x280416958F3ACB45u, 0x7E404BBBCAFBD7AFu};

/// HashKey(key, seed). REQUIRES: key.size() <= kShortKeyBytes.
static inline __attribute__((always_inline)) uint64_t HashShortKey(std::string_view key,
                                                                   uint64_t seed = 0) noexcept {
  assert(key.size() <= kShortKeyBytes);
  if (key.size() > kShortKeyBytes) __builtin_unreachable();
  return XXH3_64bits_withSeed(key.data(), key.size(), seed ^ kKeyHashSeed);
}

/// The words that XXH3 combines with the first and last eight bytes of keys of 9 to 16 bytes.
inline constexpr uint64_t kFirstHashFlip = (kHashSecret[3] ^ kHashSecret[4]) + kKeyHashSeed;
inline constexpr uint64_t kLastHashFlip = (kHashSecret[5] ^ kHashSecret[6]) - kKeyHashSeed;

static inline __attribute__((always_inline)) bool IsMediumKey(std::string_view key) noexcept {
  return key.size() - 9 <= kShortKeyBytes - 9;
}

/// HashKey(key). REQUIRES: IsMediumKey(key).
static inline __attribute__((always_inline)) uint64_t HashMediumKey(std::string_view key) noexcept {
  assert(IsMediumKey(key));
  const auto* bytes = reinterpret_cast<const uint8_t*>(key.data());
  const uint64_t first = LoadLittleEndian<uint64_t>(bytes) ^ kFirstHashFlip;
  const uint64_t last = LoadLittleEndian<uint64_t>(bytes + key.size() - 8) ^ kLastHashFlip;
  const auto product = static_cast<unsigned __int128>(first) * last;
  const uint64_t folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  uint64_t hash = key.size() + __builtin_bswap64(first) + last + folded;
  hash ^= hash >> 37;
  hash *= 0x165667919E3779F9u;
  return hash ^ (hash >> 32);
}

}  // namespace blocksieve
