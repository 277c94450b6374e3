#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_info.h"
#include "lib/block/parts.h"
#include "lib/filter/filter_access.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/range/range_test_keys.h"

// Blocks of version 2: a point filter, ranges, and a footer. tests/core/format tests damage to any
// block.

namespace blocksieve::testing {
namespace {

using RangeAnswer = RangeFilterReader::Answer;

internal::BlockParts PartsOf(const std::string& block) {
  return Must(internal::SplitBlock(AsBytes(block)));
}

TEST(RangeBlock, AnswersPointLookupsAsThePointFilter) {
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
        const Filter reader = internal::FilterAccess::Open(block.view(), kernel);
        const Filter inner_reader = internal::FilterAccess::Open(AsBytes(inner), kernel);
        ASSERT_EQ(reader.state(), inner_reader.state());
        for (uint64_t i = 0; i < 20'000; ++i) {
          ASSERT_EQ(reader.MayContain(KeyNumber(i)), inner_reader.MayContain(KeyNumber(i)));
        }
      }
    }
  }
}

TEST(RangeBlock, WithoutRangesMayMatch) {
  const std::string block = Copy(BuildBlock(FilterKind::kRibbon, 0.01, 100));
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_FALSE(reader.is_ready());
  EXPECT_EQ(reader.Query("a", "b"), RangeAnswer::kMayMatch);
  EXPECT_EQ(Must(DescribeRangeFilter(AsBytes(block))).num_keys, 0u);
  EXPECT_EQ(RangeFilterReader().Query("a", "b"), RangeAnswer::kMayMatch);
  EXPECT_EQ(RangeFilterReader::Open({}).Query("a", "b"), RangeAnswer::kMayMatch);
}

TEST(RangeBlock, InvertedAndEmptyRangesMayMatch) {
  const std::string block = RangeBlock({"b", "d"}, AnyEstimate());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Query("x", "y"), RangeAnswer::kNo);
  for (const auto& [begin, end] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"y", "x"}, {"x", "x"}, {"", ""}, {"x", ""}, {{}, {}}}) {
    EXPECT_EQ(reader.Query(begin, end), RangeAnswer::kMayMatch);
  }
}

TEST(RangeBlock, APartitionDeniesOnlyUpToItsLastKey) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  const std::string whole = RangeBlock(keys, {.is_whole_file = true});
  const std::string partition = RangeBlock(keys, {.is_whole_file = false});
  const RangeFilterReader whole_reader = RangeFilterReader::Open(AsBytes(whole));
  const RangeFilterReader partition_reader = RangeFilterReader::Open(AsBytes(partition));
  const std::string after = keys.back() + '\1';
  EXPECT_EQ(whole_reader.Query(std::string(9, '\xff'), std::string(10, '\xff')), RangeAnswer::kNo);
  EXPECT_EQ(partition_reader.Query(std::string(9, '\xff'), std::string(10, '\xff')),
            RangeAnswer::kBeyond);
  EXPECT_TRUE(partition_reader.MayContain(std::string(9, '\xff'), std::string(10, '\xff')));
  EXPECT_NE(partition_reader.Query(after, after + '\1'), RangeAnswer::kNo);
  EXPECT_EQ(partition_reader.Query("", BigEndian(0) + "\1"), RangeAnswer::kNo);
  EXPECT_EQ(whole_reader.Query("", BigEndian(0) + "\1"), RangeAnswer::kNo);
}

// A block of version 2 as the point filter of another is unreadable, even with correct checksums.
TEST(RangeBlock, NestedInABlockIsRefused) {
  const std::string inner = RangeBlock(RandomInts(40, 1), AnyEstimate());
  OwnedBytes block;
  block.memory = std::make_unique<char[]>(inner.size());
  block.size = inner.size();
  std::copy(inner.begin(), inner.end(), block.data());
  RangeFilterBuilder ranges = Must(RangeFilterBuilder::Create(AnyEstimate()));
  ranges.AddKey("a");
  ASSERT_TRUE(ranges.Finish(&block).ok());
  EXPECT_EQ(Filter::Open(block.view()).state(), Filter::State::kUnreadable);
  EXPECT_FALSE(DescribeFilterBlock(block.view()).ok());
  EXPECT_FALSE(Filter::Verify(block.view()).ok());
}

}  // namespace
}  // namespace blocksieve::testing
