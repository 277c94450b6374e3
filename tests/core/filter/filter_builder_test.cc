// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <set>

#include "blocksieve/sizing.h"
#include "lib/block/footer.h"
#include "lib/classic/container.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"
#include "tests/support/statistics.h"

namespace blocksieve::testing {
namespace {

TEST(FilterBuilderTest, ExceedingTheBudgetIsAnErrorAndResetsTheBuilder) {
  FilterBuilder builder = MakeBuilder({.max_build_bytes = 100'000});
  AddKeys(&builder, 100'000);
  EXPECT_EQ(builder.num_keys(), 100'000u);
  const Result<FinishedFilter> refused = builder.Finish();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("max_build_bytes = 100000"), std::string::npos);

  // Enough for the hashes, but not for their filter.
  AddKeys(&builder, 10'000);
  EXPECT_FALSE(builder.Finish().ok());

  AddKeys(&builder, 1000);
  const OwnedBytes block = FinishOk(builder);
  EXPECT_TRUE(Filter::Open(block.view()).MayContain(PresentKey(999)));
}

// pitfall 8.
TEST(FilterBuilderTest, VerifyBuiltFindsDamage) {
  for (const FilterKind kind : AllFilterKinds()) {
    FilterBuilder builder = MakeBuilder({.kind = kind, .keep_hashes = true});
    AddKeys(&builder, 5000);
    const std::string block = Copy(FinishOk(builder));
    EXPECT_TRUE(builder.VerifyBuilt(AsBytes(block)).ok());

    std::string flipped = block;
    flipped[block.size() / 3] = static_cast<char>(flipped[block.size() / 3] ^ 4);
    EXPECT_EQ(builder.VerifyBuilt(AsBytes(flipped)).code(), StatusCode::kCorruption);
    EXPECT_EQ(builder.VerifyBuilt(AsBytes(std::string(6, '\0'))).code(), StatusCode::kCorruption)
        << "became always true";
    const OwnedBytes other = BuildBlock({.kind = kind}, 100);
    EXPECT_EQ(builder.VerifyBuilt(other.view()).code(), StatusCode::kCorruption)
        << "the filter of other keys";
  }
}

TEST(FilterTest, CopiesOutliveTheFilter) {
  Filter copy;
  EXPECT_TRUE(copy.MayContain("b"));
  {
    const auto filter = Filter::Build(std::vector{"a", "c"}, {.target_fpr = 1e-7});
    copy = *filter;
  }
  EXPECT_TRUE(copy.MayContain("a"));
  EXPECT_FALSE(copy.MayContain("b"));
  EXPECT_TRUE(copy.MayContainRange("d", "e"));  // it has no range filter
}

TEST(FilterTest, AnswersRangeQueries) {
  const FilterOptions options{.ranges = true};
  const auto filter = Filter::Build(std::vector{"apple", "pear"}, options);
  EXPECT_TRUE(filter->MayContain("pear"));
  EXPECT_TRUE(filter->MayContainRange("p", "q"));
  EXPECT_FALSE(filter->MayContainRange("q", "r"));

  FilterBuilder builder = Must(FilterBuilder::Create(options));
  builder.AddKey("pear");
  builder.AddKey("apple");
  const FinishedFilter finished = Must(builder.Finish());
  EXPECT_EQ(finished.no_ranges_reason, "keys are not in bytewise order");
  EXPECT_FALSE(finished.has_ranges);
  EXPECT_TRUE(Filter::Open(finished.block.view()).MayContainRange("q", "r"));
  EXPECT_EQ(
      FilterBuilder::Create({.ranges = true, .max_estimated_range_fpr = 1.5}).status().message(),
      "max_estimated_range_fpr is 1.5; allowed: 0 to 1");
}

TEST(FilterTest, TakesAnyRangeOfStrings) {
  const std::string_view views[] = {"a", "b"};
  const auto from_views = Filter::Build(std::span<const std::string_view>(views));
  const auto from_set = Filter::Build(std::set<std::string>{"b", "a"});
  EXPECT_EQ(AsText(from_views->bytes()), AsText(from_set->bytes()));
  EXPECT_EQ(Filter::Build(std::vector<const char*>())->state(), Filter::State::kEmpty);
  EXPECT_EQ(Filter::Build(views, {.target_fpr = 0.7}).status().message(),
            "target_fpr is 0.7; allowed: 1e-07 to 0.5");
}

// Sizes around 2^32 bits and 2^32 bytes, where 32-bit arithmetic loses keys (tests/PITFALLS.md, 9
// and 10). Arithmetic only; LargeFilterTest builds such filters.

constexpr uint64_t kPlaces[] = {uint64_t{1} << 29,  // bytes whose bits need 33 bits to count
                                uint64_t{1} << 32, uint64_t{1} << 35, uint64_t{1} << 60};
constexpr double kTargets[] = {0.5, 0.1, 0.01, 1e-4, 1e-7};

TEST(SizeLimitsTest, SizesNeverShrinkAndEndAtTheLargestNumber) {
  constexpr uint64_t kMax = UINT64_MAX;
  for (const FilterKind kind : AllFilterKinds()) {
    for (const double target : kTargets) {
      const Layout layout = *ChooseLayout(kind, target);
      uint64_t last_payload = 0;
      uint64_t last_block = 0;
      for (int bits = 1; bits <= 64; ++bits) {
        const uint64_t keys = kMax >> (64 - bits);
        const uint64_t payload = PayloadBytes(layout, keys);
        const uint64_t block = BlockBytes(layout, keys);
        EXPECT_GE(payload, last_payload) << bits;
        EXPECT_GE(block, last_block) << bits;
        EXPECT_GE(block, payload) << bits;
        last_payload = payload;
        last_block = block;
      }
      for (const uint64_t place : kPlaces) {
        const uint64_t keys = MaxBlockKeys(layout, place);
        EXPECT_LE(BlockBytes(layout, keys), place);
        EXPECT_GT(BlockBytes(layout, keys + keys / 1000), place);
      }
      EXPECT_GE(MaxBlockKeys(layout, kMax), MaxBlockKeys(layout, uint64_t{1} << 60));
    }
  }
}

// Adds keys that are counted, but not stored, because that would exceed the budget.
std::string ExpectRefusal(const FilterOptions& options, const Layout& layout, uint64_t num_keys) {
  FilterBuilder builder = MakeBuilder(options);
  for (uint64_t i = 0; i < num_keys; ++i) builder.AddHash(i);
  const Result<FinishedFilter> block = builder.Finish(layout);
  EXPECT_FALSE(block.ok());
  EXPECT_EQ(block.status().code(), StatusCode::kResourceExhausted);
  return block.status().message();
}

TEST(SizeLimitsTest, ABlockOfFourGibibytesIsRefused) {
  const FilterOptions options{.max_build_bytes = 1};
  Layout layout = *ChooseLayout(FilterKind::kBlockedBloom, options.target_fpr);
  layout.bits_per_key = 1 << 28;  // 32 MiB for each key
  EXPECT_EQ(ExpectRefusal(options, layout, 128),
            "filter of 128 keys takes 4294967367 bytes; allowed: less than 4294967295");
  EXPECT_EQ(ExpectRefusal(options, layout, 127),
            "building a filter of 127 keys takes more memory than max_build_bytes = 1");
}

TEST(SizeLimitsTest, ClassicLayoutsEndBelowFourGibibytes) {
  EXPECT_LT(kMaxBloomBits / 8, kMaxFilterBlockBytes);
  for (const double target : kTargets) {
    const std::string limits = BloomLayout::ForKeys(~uint64_t{0}, target).status().message();
    const uint64_t most = std::stoull(limits.substr(limits.rfind(' ') + 1));
    ASSERT_TRUE(BloomLayout::ForKeys(most, target).ok()) << limits;
    EXPECT_LE(BloomLayout::ForKeys(most, target)->num_bits, kMaxBloomBits);
    EXPECT_GT(BloomLayout::ForKeys(most, target)->num_bits, kMaxBloomBits - 100);
    const Status refused = BloomLayout::ForKeys(most + 1, target).status();
    EXPECT_EQ(refused.message(), "num_keys is " + std::to_string(most + 1) + "; allowed: 1 to " +
                                     std::to_string(most));
  }
}

// Filters of every kind with a hundred million keys and more than 2^32 bits, probed for every key:
// 32-bit bit numbers would lose keys (tests/PITFALLS.md, 9). Takes minutes and 3 GB of memory.

constexpr uint64_t kKeys = 100'000'000;

class LargeFilterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::LongTests()) GTEST_SKIP() << "with BLOCKSIEVE_LONG_TESTS only";
  }

  /// Key i: present if i is below the number of keys.
  static std::string_view AsKey(const uint64_t& number) {
    return {reinterpret_cast<const char*>(&number), sizeof(number)};
  }

  template <class AnyFilter>
  static void ExpectAllMatch(const AnyFilter& reader, size_t num_bytes, uint64_t num_keys,
                             double target_fpr) {
    EXPECT_GT(num_bytes, uint64_t{1} << 29);
    for (uint64_t i = 0; i < num_keys; ++i) ASSERT_TRUE(reader.MayContain(AsKey(i))) << i;
    uint64_t matches = 0;
    for (uint64_t i = num_keys; i < num_keys + kKeys; ++i) matches += reader.MayContain(AsKey(i));
    EXPECT_LE(static_cast<double>(matches), CountInterval(target_fpr * kKeys, 0).high);
    std::printf("%lu keys, %zu bytes, %lu of %lu absent ones match\n", num_keys, num_bytes, matches,
                kKeys);
  }

  static void BuildAndCheck(FilterKind kind, uint64_t num_keys) {
    FilterBuilder builder = MakeBuilder({.kind = kind, .target_fpr = kMinTargetFpr});
    for (uint64_t i = 0; i < num_keys; ++i) builder.AddKey(AsKey(i));
    const FinishedFilter filter = Must(builder.Finish());
    EXPECT_EQ(filter.fallback_reason, "");
    const OwnedBytes& block = filter.block;
    EXPECT_TRUE(Filter::Verify(block.view()).ok());
    const Filter reader = Filter::Open(block.view());
    ASSERT_EQ(reader.state(), Filter::State::kReady);
    ExpectAllMatch(reader, block.size, num_keys, kMinTargetFpr);
  }
};

TEST_F(LargeFilterTest, BlockedBloom) { BuildAndCheck(FilterKind::kBlockedBloom, kKeys); }

TEST_F(LargeFilterTest, Ribbon) { BuildAndCheck(FilterKind::kRibbon, 2 * kKeys); }

TEST_F(LargeFilterTest, ClassicBloom) {
  ClassicBloom filter =
      *ClassicBloom::Create(*BloomLayout::ForBits((uint64_t{1} << 32) * 9 / 8, 6));
  for (uint64_t i = 0; i < kKeys; ++i) filter.Add(AsKey(i));
  const OwnedBytes block = *filter.Serialize();
  ExpectAllMatch(*ClassicBloom::Deserialize(block.view()), block.size, kKeys, filter.CurrentFpr());
}

TEST_F(LargeFilterTest, CountingBloom) {
  CountingBloom filter = *CountingBloom::Create(*BloomLayout::ForKeys(kKeys, 0.002));
  constexpr uint64_t kMore = kKeys / 10;
  for (uint64_t i = 0; i < kKeys + kMore; ++i) filter.Add(AsKey(i));
  for (uint64_t i = kKeys; i < kKeys + kMore; ++i) ASSERT_TRUE(filter.Remove(AsKey(i)));
  const OwnedBytes block = *filter.Serialize();
  ExpectAllMatch(*CountingBloom::Deserialize(block.view()), block.size, kKeys, filter.CurrentFpr());
}

}  // namespace
}  // namespace blocksieve::testing
