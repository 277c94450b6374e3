// SPDX-License-Identifier: Apache-2.0
#include "lib/base/coding.h"

// Inlined from the header, like the hashes of keys: nothing of its library is linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace blocksieve {

uint64_t WideChecksum(ByteView bytes, uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace blocksieve
