#include "blocksieve/hash.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/hash/hash_inline.h"

namespace blocksieve {
namespace {

// The hash is part of the format: these values, from xxhsum -H3 and XXH3's own test vectors, must
// never change. pitfall 11: bytes from 0x80 on are hashed like any others.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(HashKey(""), 0x2d06800538d394c2u);
  EXPECT_EQ(HashKey("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(HashKey("abc"), 0x78af5f94892f3950u);
}

TEST(Hash, ShortKeysHashAlike) {
  std::string key;
  for (size_t length = 0; length <= kShortKeyBytes; ++length) {
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      EXPECT_EQ(HashShortKey(key, seed), HashKey(key, seed));
      EXPECT_EQ(IsMediumKey(key), length > 8);
      if (!IsMediumKey(key)) continue;
      EXPECT_EQ(HashMediumKey(key, FirstHashFlip(seed), LastHashFlip(seed)), HashKey(key, seed));
    }
    key.push_back(static_cast<char>(0x7d + length));
  }
  EXPECT_FALSE(IsMediumKey(key));
}

TEST(Hash, SeedMatters) { EXPECT_NE(HashKey("abc", 1), HashKey("abc")); }

}  // namespace
}  // namespace blocksieve
