// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/hash.h"

#include <array>

#include "lib/hash/hash_inline.h"

namespace blocksieve {
namespace {

// XXH3 derives a secret of 192 bytes from its seed for each key longer than this.
constexpr size_t kMaxMiddleBytes = 240;

// The secret that it derives from kKeyHashSeed: words of its own secret, plus and minus the seed.
alignas(64) constexpr auto kLongKeySecret = [] {
  std::array<uint8_t, sizeof(kHashSecret)> secret{};
  for (size_t i = 0; i < secret.size(); ++i) {
    const uint64_t seed = i / 8 % 2 == 0 ? kKeyHashSeed : ~kKeyHashSeed + 1;
    secret[i] = static_cast<uint8_t>((kHashSecret[i / 8] + seed) >> (8 * (i % 8)));
  }
  return secret;
}();

}  // namespace

uint64_t HashKey(std::string_view key, uint64_t seed) noexcept {
  if (seed == 0 && key.size() > kMaxMiddleBytes) {
    return XXH3_64bits_withSecret(key.data(), key.size(), kLongKeySecret.data(),
                                  kLongKeySecret.size());
  }
  return XXH3_64bits_withSeed(key.data(), key.size(), seed ^ kKeyHashSeed);
}

}  // namespace blocksieve
