#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/hash.h"

// XXH3 is compiled into the kernels: for the short keys of storage engines a call costs as much as
// the hash. All functions of the header become static, so no two translation units share one.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace blocksieve {

/// Keys up to this length are hashed in a few instructions. Callers on a hot path branch on it and
/// leave longer keys to a function of their own: XXH3's many branches for those would have every
/// call save and restore registers, which costs as much as hashing a short key.
inline constexpr size_t kShortKeyBytes = 16;

/// HashKey(key, seed). REQUIRES: key.size() <= kShortKeyBytes.
static inline __attribute__((always_inline)) uint64_t HashShortKey(std::string_view key,
                                                                   uint64_t seed) noexcept {
  if (key.size() > kShortKeyBytes) __builtin_unreachable();
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

}  // namespace blocksieve
