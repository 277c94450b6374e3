#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "blocksieve/classic_bloom.h"
#include "blocksieve/counting_bloom.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/hash.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"

// The bytes of classic and counting filters are a promise: these are the examples of lib/FORMAT.md,
// and the hashes and false positives of larger filters.

namespace blocksieve::testing {
namespace {

const std::vector<uint8_t> kClassic{
    0x00, 0x07, 0x10, 0x00, 0x20, 0x00, 0x01, 0x02, 0x40, 0x81, 0x40, 0x00,
    0x00, 0x01, 0x03, 0x0d, 0x01, 0xc1, 0xb9, 0x4b, 0x04, 0x64, 0x11, 0x0a,
    0x01, 0xb5, 0x3e, 0xdc, 0x4c, 0x57, 0x00, 0x00, 0x00, 0x00, 0x00,
};

const std::vector<uint8_t> kCounting{
    0x00, 0x00, 0x00, 0x00, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x10, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x03, 0x32, 0xe4, 0x80, 0xc4, 0x12, 0x04, 0x04, 0x64,
    0x11, 0x0b, 0x01, 0xb5, 0x69, 0x31, 0x0f, 0x28, 0x00, 0x00, 0x00, 0x00, 0x00,
};

template <class Filter>
Filter WithKeys(Filter filter, uint64_t num_keys) {
  for (uint64_t i = 0; i < num_keys; ++i) filter.Add(PresentKey(i));
  return filter;
}

template <class Filter>
std::string Bytes(const Filter& filter) {
  return Copy(*filter.Serialize());
}

TEST(ClassicBloomGolden, WriterMakesTheseBytes) {
  const BloomLayout layout = *BloomLayout::ForBits(100, 4);
  EXPECT_TRUE(Bytes(WithKeys(*ClassicBloom::Create(layout), 3)) == AsText(kClassic));
  EXPECT_TRUE(Bytes(WithKeys(*CountingBloom::Create(layout), 3)) == AsText(kCounting));

  const BloomLayout large = *BloomLayout::ForKeys(1000, 0.01, 42);
  EXPECT_EQ(HashKey(Bytes(WithKeys(*ClassicBloom::Create(large), 1000))), 0x985eb59dcea97672);
  EXPECT_EQ(HashKey(Bytes(WithKeys(*CountingBloom::Create(large, 8), 1000))), 0x072ac43cf95eea39);
}

// As the files of the other kinds (golden_test.cc); to write them anew for another format version:
// BLOCKSIEVE_WRITE_GOLDEN=1 build/tests/core/classic_bloom_test --gtest_filter='*FilesHold*'.
TEST(ClassicBloomGolden, FilesHoldTheseBytes) {
  const BloomLayout small = *BloomLayout::ForBits(100, 4);
  const BloomLayout large = *BloomLayout::ForKeys(1000, 0.01, 42);
  const std::map<std::string, std::string> files = {
      {"classic_empty", Bytes(*ClassicBloom::Create(small))},
      {"classic_3_keys", std::string(AsText(kClassic))},
      {"classic_1000_keys", Bytes(WithKeys(*ClassicBloom::Create(large), 1000))},
      {"counting_empty", Bytes(*CountingBloom::Create(small))},
      {"counting_3_keys", std::string(AsText(kCounting))},
      {"counting_1000_keys", Bytes(WithKeys(*CountingBloom::Create(large, 8), 1000))},
  };
  for (const auto& [name, bytes] : files) {
    const std::string path = std::string(BLOCKSIEVE_GOLDEN_DIR) + "/" + name + ".filter";
    if (testing::WritesGoldenFiles()) {
      std::ofstream(path, std::ios::binary) << bytes;
    }
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file.is_open()) << path;
    const std::string found{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_TRUE(found == bytes) << path;
  }
}

TEST(ClassicBloomGolden, ReaderGivesTheseAnswers) {
  for (const auto& block : {kClassic, kCounting}) {
    const FilterReader reader = FilterReader::Open(block);
    ASSERT_EQ(reader.state(), FilterReader::State::kReady);
    for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(reader.MayMatch(PresentKey(i)));
    for (uint64_t i = 0; i < 100; ++i) EXPECT_FALSE(reader.MayMatch(AbsentKey(i)));
  }
  const std::string block =
      Bytes(WithKeys(*ClassicBloom::Create(*BloomLayout::ForKeys(1000, 0.01, 42)), 1000));
  const FilterReader reader = FilterReader::Open(AsBytes(block));
  std::vector<uint64_t> false_positives;
  for (uint64_t i = 0; i <= 352; ++i) {
    if (reader.MayMatch(AbsentKey(i))) false_positives.push_back(i);
  }
  EXPECT_EQ(false_positives, (std::vector<uint64_t>{7, 44, 112, 172, 352}));
}

}  // namespace
}  // namespace blocksieve::testing
