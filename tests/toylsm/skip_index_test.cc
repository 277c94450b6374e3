#include "integration/toylsm/sst/skip_index.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "tests/toylsm/toy_model.h"

namespace blocksieve::toylsm {
namespace {

constexpr size_t kNumBlocks = 3;

std::string IndexOfABlockEach(uint32_t granule_blocks) {
  Options options;
  options.value_columns = {*Column::Parse("number=int:1")};
  options.value_granule_blocks = granule_blocks;
  FileSkipIndexBuilder builder = MustHave(FileSkipIndexBuilder::Create(options));
  for (size_t i = 0; i < kNumBlocks; ++i) {
    const std::string value = std::to_string(i);
    builder.Add({.key = value, .sequence = i + 1, .type = EntryType::kPut, .value = value});
    builder.FinishBlock();
  }
  return MustHave(builder.Finish());
}

// Whoever counts up to its end takes days for all of these.
TEST(FileSkipIndex, AGranuleMayBeFarLargerThanTheFile) {
  constexpr uint32_t kMany = std::numeric_limits<uint32_t>::max();
  const std::string expected = IndexOfABlockEach(kNumBlocks);
  for (uint32_t i = 0; i < 10'000; ++i) ASSERT_EQ(IndexOfABlockEach(kMany - i), expected);
  const auto index = FileSkipIndex::Open(expected, kNumBlocks, kMany);
  ASSERT_NE(index, nullptr);
  EXPECT_EQ(index->index().num_granules(), 1u);
}

}  // namespace
}  // namespace blocksieve::toylsm
