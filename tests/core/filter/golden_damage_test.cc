#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/granule_index.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"

// Every golden file, cut off everywhere and with every one of its bits flipped: a filter that is
// then read at all answers without a crash, and the check of its payload finds the damage; an index
// is not opened. Of files beyond kSmallBytes this takes minutes, so that all of it is done with
// BLOCKSIEVE_LONG_TESTS only; else their payload is sampled.

namespace blocksieve::testing {
namespace {

constexpr size_t kSmallBytes = 16 << 10;
constexpr size_t kSampled = 2000;  // bits, or lengths, of the payload of a larger file

std::vector<std::string> FilesNamed(const std::string& extension) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BLOCKSIEVE_GOLDEN_DIR)) {
    if (entry.path().extension() == extension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::string ReadGolden(const std::string& name) {
  std::ifstream file(std::string(BLOCKSIEVE_GOLDEN_DIR) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// 0, 1, 2, ... up to `count`, or as many of them as there is time for; all from `always` on.
std::vector<size_t> Places(size_t count, size_t always, bool all) {
  std::vector<size_t> places;
  const size_t step = all ? 1 : always / kSampled + 1;
  // An odd step, so that all bits of a byte have their turn.
  for (size_t place = 0; place < always; place += step | 1) places.push_back(place);
  for (size_t place = always; place < count; ++place) places.push_back(place);
  return places;
}

bool DoAll(const std::string& bytes) { return bytes.size() <= kSmallBytes || testing::LongTests(); }

class DamagedGoldenFilter : public ::testing::TestWithParam<std::string> {
 protected:
  DamagedGoldenFilter()
      : bytes_(ReadGolden(GetParam() + ".filter")),
        payload_bytes_(static_cast<size_t>(DescribeFilterBlock(AsBytes(bytes_))->payload_bytes)) {}

  const std::string bytes_;
  const size_t payload_bytes_;
};

INSTANTIATE_TEST_SUITE_P(Files, DamagedGoldenFilter, ::testing::ValuesIn(FilesNamed(".filter")),
                         NameOf);

void ExpectMayMatch(ByteView block) {
  const FilterReader reader = FilterReader::Open(block);
  ASSERT_EQ(reader.state(), FilterReader::State::kUnreadable);
  ASSERT_TRUE(reader.MayMatch(PresentKey(0)));
  ASSERT_TRUE(reader.MayMatch(AbsentKey(0)));
}

TEST_P(DamagedGoldenFilter, EveryTruncationMayMatch) {
  for (const size_t size : Places(bytes_.size(), payload_bytes_, DoAll(bytes_))) {
    // Copies without slack, so that a sanitizer sees a read beyond the end.
    const std::vector<uint8_t> begin(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    const std::vector<uint8_t> end(bytes_.end() - static_cast<ptrdiff_t>(size), bytes_.end());
    ASSERT_NO_FATAL_FAILURE(ExpectMayMatch(begin)) << "first " << size;
    ASSERT_NO_FATAL_FAILURE(ExpectMayMatch(end)) << "last " << size;
    ASSERT_FALSE(VerifyFilterBlock(begin).ok()) << "first " << size;
    ASSERT_FALSE(VerifyFilterBlock(end).ok()) << "last " << size;
  }
}

TEST_P(DamagedGoldenFilter, EveryFlippedBitIsFoundByVerify) {
  std::vector<uint8_t> damaged(bytes_.begin(), bytes_.end());
  ASSERT_TRUE(VerifyFilterBlock(damaged).ok());
  uint64_t lost = 0;
  for (const size_t bit : Places(8 * bytes_.size(), 8 * payload_bytes_, DoAll(bytes_))) {
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    ASSERT_FALSE(VerifyFilterBlock(damaged).ok()) << "bit " << bit;
    if (bit / 8 >= payload_bytes_) {
      ASSERT_NO_FATAL_FAILURE(ExpectMayMatch(damaged)) << "bit " << bit;
    } else {
      const FilterReader reader = FilterReader::Open(damaged);
      ASSERT_EQ(reader.state(), FilterReader::State::kReady) << "opening looks at the footer only";
      for (uint64_t i = 0; i < 3; ++i) lost += !reader.MayMatch(PresentKey(i));
    }
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  // What Verify is for: without it, keys of the smallest filters would have been lost unnoticed.
  if (GetParam().find("_3_keys") != std::string::npos) {
    EXPECT_GT(lost, 0u);
  }
}

class DamagedGoldenIndex : public ::testing::TestWithParam<std::string> {
 protected:
  const std::string bytes_ = ReadGolden(GetParam() + ".index");
};

INSTANTIATE_TEST_SUITE_P(Files, DamagedGoldenIndex, ::testing::ValuesIn(FilesNamed(".index")),
                         NameOf);

TEST_P(DamagedGoldenIndex, EveryTruncationIsAnError) {
  for (const size_t size : Places(bytes_.size(), bytes_.size(), DoAll(bytes_))) {
    const std::vector<uint8_t> begin(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    const std::vector<uint8_t> end(bytes_.end() - static_cast<ptrdiff_t>(size), bytes_.end());
    ASSERT_FALSE(GranuleIndex::Open(begin).ok()) << "first " << size;
    ASSERT_FALSE(GranuleIndex::Open(end).ok()) << "last " << size;
  }
}

TEST_P(DamagedGoldenIndex, EveryFlippedBitIsAnError) {
  std::vector<uint8_t> damaged(bytes_.begin(), bytes_.end());
  ASSERT_TRUE(GranuleIndex::Open(damaged).ok());
  for (const size_t bit : Places(8 * bytes_.size(), 8 * bytes_.size(), DoAll(bytes_))) {
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    ASSERT_FALSE(GranuleIndex::Open(damaged).ok()) << "bit " << bit;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

// A folder that lacks a kind would leave it untested.
TEST(GoldenFiles, AreThereOfEveryKind) {
  const std::vector<std::string> filters = FilesNamed(".filter");
  for (const FilterKind kind : {FilterKind::kClassicBloom, FilterKind::kBlockedBloom,
                                FilterKind::kRibbon, FilterKind::kCountingBloom}) {
    EXPECT_TRUE(std::any_of(filters.begin(), filters.end(), [&](const std::string& name) {
      const std::string bytes = ReadGolden(name + ".filter");
      return DescribeFilterBlock(AsBytes(bytes))->kind == kind;
    })) << FilterKindName(kind);
  }
  EXPECT_FALSE(FilesNamed(".index").empty());
}

}  // namespace
}  // namespace blocksieve::testing
