#include "lib/block/short_block.h"

#include <gtest/gtest.h>

#include "blocksieve/filter.h"
#include "lib/block/filter_info.h"
#include "lib/filter/block_sizing.h"
#include "lib/ribbon/builder.h"
#include "tests/core/filter/test_filters.h"

// Which filters get a short footer. tests/core/format tests its bytes and damage, with all other
// blocks.

namespace blocksieve::testing {
namespace {

void ExpectKeys(ByteView block, uint64_t num_keys, uint64_t hash_seed = 0) {
  const FilterInfo info = Must(DescribeFilterBlock(block));
  EXPECT_EQ(info.num_keys, num_keys);
  EXPECT_EQ(info.hash_seed, hash_seed);
  EXPECT_EQ(info.block_bytes, block.size());
  EXPECT_TRUE(Filter::Verify(block).ok());
  const Filter reader = Filter::Open(block);
  ASSERT_EQ(reader.state(), Filter::State::kReady);
  for (uint64_t i = 0; i < num_keys; ++i) ASSERT_TRUE(reader.MayContain(PresentKey(i))) << i;
}

// Without: 24 to 26 bytes, and filters of partitions and small files 9 and 26 % above the limit.
TEST(ShortBlock, IsElevenBytesLongerThanItsSlots) {
  for (const uint64_t num_keys : {100, 300}) {
    const OwnedBytes block = BuildBlock(FilterKind::kRibbon, 1.0 / 256, num_keys);
    EXPECT_TRUE(internal::LooksShort(block.view()));
    EXPECT_EQ(block.size, num_keys + 4 + 11);  // a byte for each of eight slots and columns
  }
}

TEST(ShortBlock, OfEverySizeAndRate) {
  int num_short = 0;
  int num_long = 0;
  for (const double target_fpr : {0.5, 0.3, 0.01, 1.0 / 256, 1e-4, 1e-7}) {
    for (uint64_t num_keys = 1; num_keys < 1500; num_keys += 1 + num_keys / 40) {
      SCOPED_TRACE(std::to_string(target_fpr) + " " + std::to_string(num_keys));
      const OwnedBytes block = BuildBlock(FilterKind::kRibbon, target_fpr, num_keys);
      ExpectKeys(block.view(), num_keys);
      EXPECT_LE(PredictedFpr(Must(DescribeFilterBlock(block.view()))), target_fpr * 1.000001);
      const bool is_short = internal::LooksShort(block.view());
      num_short += is_short;
      num_long += !is_short;
      if (is_short && num_keys >= 100) {
        const auto size = static_cast<double>(block.size);
        EXPECT_NEAR(static_cast<double>(
                        BlockBytes(*ChooseLayout(FilterKind::kRibbon, target_fpr), num_keys)),
                    size, size / 20);
      }
    }
  }
  EXPECT_GT(num_short, 500);
  EXPECT_GT(num_long, 50);  // several chunks
}

TEST(ShortBlock, NotWithASeedNorOfBloomFilters) {
  const OwnedBytes block = BuildBlock({.kind = FilterKind::kRibbon, .hash_seed = 42}, 300);
  EXPECT_FALSE(internal::LooksShort(block.view()));
  ExpectKeys(block.view(), 300, 42);
  EXPECT_FALSE(internal::LooksShort(BuildBlock(FilterKind::kBlockedBloom, 0.01, 300).view()));
}

// More keys than slots, or far fewer.
TEST(ShortBlock, NotIfTheKeysDoNotFollowFromTheSlots) {
  FilterBuilder builder = MakeBuilder(FilterKind::kRibbon);
  for (int round = 0; round < 4; ++round) AddKeys(&builder, 150);
  const OwnedBytes block = FinishOk(builder);
  const FilterInfo info = Must(DescribeFilterBlock(block.view()));
  EXPECT_EQ(info.num_keys, 600);
  EXPECT_EQ(internal::LooksShort(block.view()),
            info.num_keys <= info.ribbon.slots() && info.ribbon.slots() - info.num_keys < 64);
  for (uint64_t i = 0; i < 150; ++i) {
    ASSERT_TRUE(Filter::Open(block.view()).MayContain(PresentKey(i)));
  }
}

// Other blocks have their magic byte in the place of the last byte before the version.
TEST(ShortBlock, NeverHasTheMagicByteOfOthers) {
  FilterInfo info;
  info.kind = FilterKind::kRibbon;
  info.ribbon = {.columns = 8, .seed = 4, .octets = 20};
  info.ribbon.narrow_segments = info.ribbon.segments();
  info.payload_bytes = info.ribbon.PayloadBytes();
  const internal::FilterFormat& format = internal::kRibbonKind.format;
  for (uint64_t spare = 0; spare < 70; ++spare) {
    info.num_keys = info.ribbon.slots() - spare;
    internal::FooterBytes fields;
    const bool fits = spare <= 63;
    EXPECT_EQ(format.append_short_fields(info, &fields), fits) << spare;
    const bool has_magic = fits && fields.view().back() == internal::kMagicByte;
    EXPECT_EQ(has_magic, spare == 45) << spare;
    EXPECT_EQ(internal::ShortFooterBytes(info, format), fits && !has_magic ? 11u : 0u) << spare;
  }
}

}  // namespace
}  // namespace blocksieve::testing
