// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/hash.h"

#include <gtest/gtest.h>

#include "lib/base/coding.h"
#include "lib/hash/hash_inline.h"
#include "lib/hash/hash_list.h"

namespace blocksieve::internal {
namespace {

// The hash is part of the byte format: these values must never change. pitfall 11: bytes from 0x80
// on are hashed like any others.
TEST(HashTest, IsXxh3WithAnOwnSeed) {
  EXPECT_EQ(HashKey(""), 0x56ac65b1ac20291eu);
  EXPECT_EQ(HashKey("a"), 0x278647f6f307bd6u);
  EXPECT_EQ(HashKey("abc"), 0x46b0575e3cf96bfu);
  EXPECT_EQ(HashKey("abc", 1), 0xd321c66db2abafc5u);
  for (size_t length = 0; length <= 4096; length += length < 300 ? 1 : 97) {
    std::string key(length, 'x');
    for (size_t i = 0; i < length; ++i) key[i] = static_cast<char>(i * i);
    for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      EXPECT_EQ(HashKey(key, seed), WideChecksum(AsBytes(key), seed ^ kKeyHashSeed)) << length;
    }
  }
}

// From xxhsum -H3 and XXH3's own test vectors.
TEST(ChecksumTest, IsPlainXxh3) {
  EXPECT_EQ(WideChecksum({}), 0x2d06800538d394c2u);
  EXPECT_EQ(WideChecksum(AsBytes("a")), 0xe6c632b61e964e1fu);
  EXPECT_EQ(Checksum(AsBytes("abc")), 0x892f3950u);
}

TEST(HashListTest, KeepsOrderUsesLittleMemoryAndFreesConsumedRuns) {
  constexpr uint64_t kHashes = 2'000'000;
  HashList filled;
  for (uint64_t i = 0; i < kHashes; ++i) filled.Append(i);
  HashList list = std::move(filled);
  EXPECT_EQ(list.size(), kHashes);
  EXPECT_LT(list.memory_bytes(), 8 * kHashes + (2 << 20) + 4096);
  uint64_t next = 0;
  list.ForEachRun([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) ASSERT_EQ(hash, next++);
  });
  EXPECT_EQ(next, kHashes);
  next = 0;
  uint64_t memory = list.memory_bytes() + 1;
  list.ConsumeRuns([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) ASSERT_EQ(hash, next++);
    EXPECT_LT(list.memory_bytes(), memory);
    memory = list.memory_bytes();
  });
  EXPECT_EQ(next, kHashes);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.memory_bytes(), 0u);
}

}  // namespace
}  // namespace blocksieve::internal
