#include "blocksieve/internal/hash_list.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace blocksieve::internal {
namespace {

std::vector<uint64_t> Contents(const HashList& list) {
  std::vector<uint64_t> all;
  list.ForEachRun([&](std::span<const uint64_t> run) {
    EXPECT_FALSE(run.empty());
    all.insert(all.end(), run.begin(), run.end());
  });
  return all;
}

TEST(HashList, KeepsWhatIsAppendedInOrder) {
  HashList list;
  std::vector<uint64_t> expected;
  for (uint64_t i = 0; i < 700'000; ++i) {
    list.Append(i * 3);
    expected.push_back(i * 3);
    if (i % 50'021 == 0) {
      ASSERT_EQ(Contents(list), expected);
    }
    ASSERT_EQ(list.size(), expected.size());
  }
  EXPECT_EQ(Contents(list), expected);
  list.Clear();
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.memory_bytes(), 0u);
}

TEST(HashList, ConsumingFreesAsItGoes) {
  HashList list;
  for (uint64_t i = 0; i < 100'000; ++i) list.Append(i);
  uint64_t next = 0;
  uint64_t memory = list.memory_bytes() + 1;
  list.ConsumeRuns([&](std::span<const uint64_t> run) {
    for (const uint64_t hash : run) ASSERT_EQ(hash, next++);
    EXPECT_LT(list.memory_bytes(), memory);
    memory = list.memory_bytes();
  });
  EXPECT_EQ(next, 100'000u);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.memory_bytes(), 0u);
}

TEST(HashList, TakesLittleMoreThanEightBytesPerHash) {
  HashList list;
  for (uint64_t i = 0; i < 2'000'000; ++i) list.Append(i);
  EXPECT_LT(list.memory_bytes(), 8 * 2'000'000 + (2 << 20) + 4096);
}

TEST(HashList, StopsAtItsLimit) {
  HashList list(10'000);
  for (uint64_t i = 0; i < 100'000; ++i) list.Append(i);
  EXPECT_TRUE(list.exhausted());
  EXPECT_LE(list.memory_bytes(), 10'000u);
  list.Clear();
  EXPECT_FALSE(list.exhausted());
  list.Append(5);
  EXPECT_EQ(Contents(list), std::vector<uint64_t>{5});
}

TEST(HashList, Moves) {
  HashList first;
  for (uint64_t i = 0; i < 1000; ++i) first.Append(i);
  HashList second = std::move(first);
  EXPECT_EQ(second.size(), 1000u);
  HashList third;
  third.Append(1);
  third = std::move(second);
  EXPECT_EQ(third.size(), 1000u);
}

}  // namespace
}  // namespace blocksieve::internal
