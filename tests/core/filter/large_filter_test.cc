#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "blocksieve/bloom.h"
#include "blocksieve/filter.h"
#include "lib/block/filter_info.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"
#include "tests/support/statistics.h"

// Filters of every kind with a hundred million keys and more than 2^32 bits, probed for every key:
// 32-bit bit numbers would lose keys (tests/PITFALLS.md, 9). Takes minutes and 3 GB of memory.

namespace blocksieve::testing {
namespace {

constexpr uint64_t kKeys = 100'000'000;

class LargeFilter : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::LongTests()) {
      GTEST_SKIP() << "with BLOCKSIEVE_LONG_TESTS only";
    }
  }

  /// Key i: present if i is below the number of keys.
  static std::string_view KeyOf(const uint64_t& number) {
    return {reinterpret_cast<const char*>(&number), sizeof(number)};
  }

  static void ExpectAllMatch(ByteView block, uint64_t num_keys, double target_fpr) {
    EXPECT_TRUE(Filter::Verify(block).ok());
    const Filter reader = Filter::Open(block);
    ASSERT_EQ(reader.state(), Filter::State::kReady);
    EXPECT_GT(DescribeFilterBlock(block)->payload_bytes, uint64_t{1} << 29);
    for (uint64_t i = 0; i < num_keys; ++i) ASSERT_TRUE(reader.MayContain(KeyOf(i))) << i;
    uint64_t matches = 0;
    for (uint64_t i = num_keys; i < num_keys + kKeys; ++i) matches += reader.MayContain(KeyOf(i));
    EXPECT_LE(static_cast<double>(matches), CountInterval(target_fpr * kKeys, 0).high);
    std::printf("%lu keys, %zu bytes, %lu of %lu absent ones match\n", num_keys, block.size(),
                matches, kKeys);
  }

  static void BuildAndCheck(FilterKind kind, uint64_t num_keys) {
    FilterBuilder builder = MakeBuilder(kind, kMinTargetFpr);
    for (uint64_t i = 0; i < num_keys; ++i) builder.AddKey(KeyOf(i));
    const OwnedBytes block = FinishOk(builder);
    EXPECT_EQ(builder.fallback_reason(), "");
    ExpectAllMatch(block.view(), num_keys, kMinTargetFpr);
  }
};

TEST_F(LargeFilter, BlockedBloom) { BuildAndCheck(FilterKind::kBlockedBloom, kKeys); }

TEST_F(LargeFilter, Ribbon) { BuildAndCheck(FilterKind::kRibbon, 2 * kKeys); }

TEST_F(LargeFilter, ClassicBloom) {
  ClassicBloom filter =
      *ClassicBloom::Create(*BloomLayout::ForBits((uint64_t{1} << 32) * 9 / 8, 6));
  for (uint64_t i = 0; i < kKeys; ++i) filter.Add(KeyOf(i));
  const OwnedBytes block = *filter.Serialize();
  ExpectAllMatch(block.view(), kKeys, filter.CurrentFpr());
}

TEST_F(LargeFilter, CountingBloom) {
  CountingBloom filter = *CountingBloom::Create(*BloomLayout::ForKeys(kKeys, 0.002));
  constexpr uint64_t kMore = kKeys / 10;
  for (uint64_t i = 0; i < kKeys + kMore; ++i) filter.Add(KeyOf(i));
  for (uint64_t i = kKeys; i < kKeys + kMore; ++i) ASSERT_TRUE(filter.Remove(KeyOf(i)));
  const OwnedBytes block = *filter.Serialize();
  ExpectAllMatch(block.view(), kKeys, filter.CurrentFpr());
}

}  // namespace
}  // namespace blocksieve::testing
