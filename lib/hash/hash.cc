#include "blocksieve/hash.h"

#include "lib/hash/hash_inline.h"

namespace blocksieve {

uint64_t HashKey(std::string_view key, uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed);
}

}  // namespace blocksieve
