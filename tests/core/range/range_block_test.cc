#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/internal/kernels.h"
#include "lib/block/parts.h"
#include "lib/filter/format_of.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/damage.h"
#include "tests/support/reseal.h"

// Blocks of version 2: a block of points, ranges, and a footer. tests/core/format has what holds
// for damage to blocks of any version.

namespace blocksieve::testing {
namespace {

using Answer = RangeFilterReader::Answer;

internal::BlockParts PartsOf(const std::string& block) {
  return Must(internal::SplitBlock(AsBytes(block)));
}

TEST(RangeBlock, AnswersPointsAsTheBlockInIt) {
  for (const FilterKind kind : BuildableKinds()) {
    for (const uint64_t num_keys : {0, 1, 3, 5'000}) {
      FilterBuilder points = MakeBuilder(kind);
      AddKeys(&points, num_keys);
      const std::string inner = Copy(FinishOk(points));
      AddKeys(&points, num_keys);
      OwnedBytes block = FinishOk(points);
      RangeFilterBuilder ranges = Must(RangeFilterBuilder::Create({}));
      for (const std::string& key : RandomInts(500, 1)) ranges.AddKey(key);
      ASSERT_TRUE(ranges.Finish(&block).ok());
      ASSERT_EQ(ranges.absent_reason(), "");
      EXPECT_TRUE(HasFilterBlockTail(block.view()));
      EXPECT_EQ(AsText(PartsOf(Copy(block)).filter), inner);

      const FilterInfo info = Must(DescribeFilterBlock(block.view()));
      const FilterInfo expected = Must(DescribeFilterBlock(AsBytes(inner)));
      EXPECT_EQ(info.kind, kind);
      EXPECT_EQ(info.num_keys, num_keys);
      EXPECT_EQ(info.block_bytes, inner.size());
      EXPECT_EQ(info.payload_bytes, expected.payload_bytes);
      EXPECT_EQ(PredictedFpr(info), PredictedFpr(expected));
      for (const Kernel kernel : internal::AvailableKernels()) {
        const FilterReader reader = FilterReader::Open(block.view(), kernel);
        const FilterReader inner_reader = FilterReader::Open(AsBytes(inner), kernel);
        ASSERT_EQ(reader.state(), inner_reader.state());
        for (uint64_t i = 0; i < 20'000; ++i) {
          ASSERT_EQ(reader.MayMatch(KeyNumber(i)), inner_reader.MayMatch(KeyNumber(i)));
        }
      }
    }
  }
}

TEST(RangeBlock, WithoutRangesMayMatch) {
  const std::string block = Copy(BuildBlock(FilterKind::kRibbon, 0.01, 100));
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_FALSE(reader.is_ready());
  EXPECT_EQ(reader.Ask("a", "b"), Answer::kMayMatch);
  EXPECT_EQ(Must(DescribeRangeFilter(AsBytes(block))).num_keys, 0u);
  EXPECT_EQ(RangeFilterReader().Ask("a", "b"), Answer::kMayMatch);
  EXPECT_EQ(RangeFilterReader::Open({}).Ask("a", "b"), Answer::kMayMatch);
}

TEST(RangeBlock, RangesThatAreNoneMayMatch) {
  const std::string block = RangeBlock({"b", "d"}, WhateverItIsWorth());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Ask("x", "y"), Answer::kNo);
  for (const auto& [begin, end] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"y", "x"}, {"x", "x"}, {"", ""}, {"x", ""}, {{}, {}}}) {
    EXPECT_EQ(reader.Ask(begin, end), Answer::kMayMatch);
  }
}

TEST(RangeBlock, APartitionDeniesOnlyUpToItsLastKey) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  const std::string whole = RangeBlock(keys, {.is_whole_file = true});
  const std::string partition = RangeBlock(keys, {.is_whole_file = false});
  const RangeFilterReader of_whole = RangeFilterReader::Open(AsBytes(whole));
  const RangeFilterReader of_partition = RangeFilterReader::Open(AsBytes(partition));
  const std::string behind = keys.back() + '\1';
  EXPECT_EQ(of_whole.Ask(std::string(9, '\xff'), std::string(10, '\xff')), Answer::kNo);
  EXPECT_EQ(of_partition.Ask(std::string(9, '\xff'), std::string(10, '\xff')), Answer::kBeyond);
  EXPECT_TRUE(of_partition.MayContain(std::string(9, '\xff'), std::string(10, '\xff')));
  EXPECT_NE(of_partition.Ask(behind, behind + '\1'), Answer::kNo);
  EXPECT_EQ(of_partition.Ask("", BigEndian(0) + "\1"), Answer::kNo);
  EXPECT_EQ(of_whole.Ask("", BigEndian(0) + "\1"), Answer::kNo);
}

// All keys of the last cluster have one code, and so has what follows them.
TEST(RangeBlock, APartitionThatEndsWithAClusterDeniesOnlyUpToItsLastKey) {
  std::vector<std::string> keys;
  for (const char* tenant :
       {"0d9f5f5e-8a54-4d65-9d7c-6a5f4a0c1b2d/", "f3b1c2aa-17e0-4c3b-8f10-5d2e9b7a6c4e/"}) {
    for (uint64_t i = 0; i < 200; ++i) keys.push_back(tenant + Formatted("%06llu", i * 997));
  }
  const std::string partition = RangeBlock(keys, WhateverItIsWorth(false));
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(partition));
  const std::string behind = keys.back().substr(0, 37) + "8";
  EXPECT_EQ(reader.Ask(behind, behind + "9"), Answer::kBeyond);
  EXPECT_EQ(reader.Ask(keys[0].substr(0, 37) + "8", keys[0].substr(0, 37) + "89"), Answer::kNo);
}

TEST(RangeBlock, VerifyFindsEveryFlippedBit) {
  const std::string block = RangeBlock(RandomInts(40, 1), WhateverItIsWorth());
  const internal::BlockParts parts = PartsOf(block);
  ASSERT_TRUE(VerifyFilterBlock(AsBytes(block)).ok());
  const size_t footer_at = parts.filter.size() + parts.ranges.size();
  ForEachFlip(
      AsBytes(block), [](size_t) { return EveryBit(); },
      [&](ByteView damaged, size_t at) {
        EXPECT_FALSE(VerifyFilterBlock(damaged).ok());
        const bool is_ready = RangeFilterReader::Open(damaged).is_ready();
        EXPECT_EQ(is_ready, at < footer_at) << "the footer is checked whenever it is read";
      });
}

// Every key of a block with clusters and nodes is asked of every damaged copy: they may be denied,
// but nothing is read beyond the bytes, and what is behind a damaged footer denies nothing.
void ExpectHarmlessDamage(const std::vector<std::string>& keys, size_t every) {
  const std::string block = RangeBlock(keys, WhateverItIsWorth());
  const size_t footer_at = PartsOf(block).filter.size() + PartsOf(block).ranges.size();
  const auto ask = [&](ByteView bytes) {
    uint64_t denied = 0;
    for (const Kernel kernel : internal::AvailableKernels()) {
      const RangeFilterReader reader = RangeFilterReader::Open(bytes, kernel);
      for (size_t i = 0; i < keys.size(); i += 1 + keys.size() / 7) {
        denied += !reader.MayContain(keys[i], keys[i] + '\0');
        denied += !reader.MayContain(keys[i] + '\0', keys[i] + '\1');
        denied += !reader.MayContain(keys[i], keys.back());
      }
      denied += !reader.MayContain("", "\1");
    }
    return denied;
  };
  ForEachFlip(
      AsBytes(block),
      [&](size_t at) {
        return at % every == 0 || at >= footer_at ? Masks{1, 4, 0x10, 0x80, 0xff} : Masks{};
      },
      [&](ByteView damaged, size_t at) {
        const uint64_t denied = ask(damaged);
        if (at >= footer_at) {
          EXPECT_EQ(denied, 0u);
        }
      });
  for (size_t length = 0; length < block.size(); length += every) {
    EXPECT_EQ(ask(ExactCopy(AsBytes(block).first(length))), 0u) << length;
    EXPECT_EQ(ask(ExactCopy(AsBytes(block).last(length))), 0u) << length;
  }
}

TEST(RangeBlock, DamageAndTruncationDoNoHarm) {
  ExpectHarmlessDamage(RandomInts(40, 1), 1);
  ExpectHarmlessDamage({"k:ant", "k:bee", "k:cat0", "k:cat1", "k:cat2", "k:cat5", "k:cat9"}, 1);
  ExpectHarmlessDamage({"key"}, 1);
  for (const KeyFamily& family : KeyFamilies()) {
    if (family.name == "UuidTenants") ExpectHarmlessDamage(family.Keys(), 3);
    if (family.name == "UuidTenantsWithManyKeys") ExpectHarmlessDamage(family.Keys(), 37);
    if (family.name == "Nested") ExpectHarmlessDamage(family.Keys(), 1);
  }
}

TEST(RangeBlock, NewerVersionsAreNotSupported) {
  std::string block = RangeBlock(RandomInts(40, 1), WhateverItIsWorth());
  const size_t version_at = block.size() - kZeroTailBytes - sizeof(uint32_t) - 2;
  ASSERT_EQ(block[version_at], kRangeFormatVersion);
  block[version_at] = kNewestBlockVersion + 1;
  block = ResealFilterBlock(AsBytes(block)).value();
  for (const Status& status :
       {DescribeFilterBlock(AsBytes(block)).status(), VerifyFilterBlock(AsBytes(block)),
        DescribeRangeFilter(AsBytes(block)).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.message();
    EXPECT_EQ(status.message(), "filter block: format version is 4; this library reads 1 to 3");
  }
  EXPECT_EQ(FilterReader::Open(AsBytes(block)).state(), FilterReader::State::kUnreadable);
  EXPECT_FALSE(RangeFilterReader::Open(AsBytes(block)).is_ready());
}

// As one that knows version 1 only.
TEST(RangeBlock, IsUnreadableToReadersOfPoints) {
  const std::string block = RangeBlock(RandomInts(40, 1), WhateverItIsWorth());
  FilterInfo info;
  const Status status = internal::DescribePoints(AsBytes(block), &info);
  EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.message();
}

// Checksums that are right do not make parts of parts.
TEST(RangeBlock, InABlockIsRefused) {
  const std::string inner = RangeBlock(RandomInts(40, 1), WhateverItIsWorth());
  OwnedBytes block;
  block.memory = std::make_unique<char[]>(inner.size());
  block.size = inner.size();
  std::copy(inner.begin(), inner.end(), block.data());
  RangeFilterBuilder ranges = Must(RangeFilterBuilder::Create(WhateverItIsWorth()));
  ranges.AddKey("a");
  ASSERT_TRUE(ranges.Finish(&block).ok());
  EXPECT_EQ(FilterReader::Open(block.view()).state(), FilterReader::State::kUnreadable);
  EXPECT_FALSE(DescribeFilterBlock(block.view()).ok());
  EXPECT_FALSE(VerifyFilterBlock(block.view()).ok());
}

}  // namespace
}  // namespace blocksieve::testing
