#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "blocksieve/classic_bloom.h"
#include "blocksieve/counting_bloom.h"
#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/hash.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/reseal.h"

// Damaged and hostile blocks of classic and counting filters: readers answer "may match",
// Deserialize gives an error, and nothing is read out of bounds.

namespace blocksieve::testing {
namespace {

struct NamedBlock {
  std::string name;
  std::string block;
};

std::vector<NamedBlock> Blocks() {
  const BloomLayout layout = *BloomLayout::ForBits(203, 5, 77);
  ClassicBloom classic = *ClassicBloom::Create(layout);
  CountingBloom counting = *CountingBloom::Create(layout);
  CountingBloom wide = *CountingBloom::Create(layout, 16);
  std::vector<NamedBlock> blocks{{"classic_empty", Copy(*classic.Serialize())},
                                 {"counting_empty", Copy(*counting.Serialize())}};
  for (uint64_t i = 0; i < 20; ++i) {
    classic.Add(PresentKey(i));
    counting.Add(PresentKey(i));
    wide.Add(PresentKey(i));
  }
  blocks.push_back({"classic", Copy(*classic.Serialize())});
  blocks.push_back({"counting", Copy(*counting.Serialize())});
  blocks.push_back({"counting_16_bits", Copy(*wide.Serialize())});
  return blocks;
}

class DamagedBloom : public ::testing::TestWithParam<NamedBlock> {
 protected:
  const std::string& block() const { return GetParam().block; }
};

INSTANTIATE_TEST_SUITE_P(Blocks, DamagedBloom, ::testing::ValuesIn(Blocks()),
                         [](const auto& info) { return info.param.name; });

bool Deserializes(ByteView block) {
  return ClassicBloom::Deserialize(block).ok() || CountingBloom::Deserialize(block).ok();
}

void ExpectUnreadable(std::string_view block, const std::string& what) {
  // A copy without slack, so that a sanitizer sees a read beyond the end.
  const std::vector<uint8_t> bytes(block.begin(), block.end());
  const FilterReader reader = FilterReader::Open(bytes);
  EXPECT_EQ(reader.state(), FilterReader::State::kUnreadable) << what;
  EXPECT_TRUE(reader.MayMatch(AbsentKey(1))) << what;
  EXPECT_FALSE(VerifyFilterBlock(bytes).ok()) << what;
  EXPECT_FALSE(Deserializes(bytes)) << what;
}

TEST_P(DamagedBloom, IsFineAsItIs) { EXPECT_TRUE(Deserializes(AsBytes(block()))); }

TEST_P(DamagedBloom, EveryTruncationMayMatch) {
  for (size_t length = 0; length < block().size(); ++length) {
    ExpectUnreadable(block().substr(0, length), "first " + std::to_string(length));
    ExpectUnreadable(block().substr(block().size() - length), "last " + std::to_string(length));
  }
}

TEST_P(DamagedBloom, EveryFlippedBitIsNoticed) {
  const size_t footer = DescribeFilterBlock(AsBytes(block()))->payload_bytes;
  for (size_t bit = 0; bit < 8 * block().size(); ++bit) {
    std::string damaged = block();
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(VerifyFilterBlock(AsBytes(damaged)).ok()) << bit;
    EXPECT_FALSE(Deserializes(AsBytes(damaged))) << bit;
    if (bit / 8 >= footer) ExpectUnreadable(damaged, "bit " + std::to_string(bit));
  }
}

// Footers that lie under a checksum that fits: what is accepted is probed, and filled, in bounds.
TEST_P(DamagedBloom, EveryFooterByteMayTakeEveryValue) {
  const size_t payload = DescribeFilterBlock(AsBytes(block()))->payload_bytes;
  uint64_t accepted = 0;
  for (size_t at = payload; at < block().size() - kZeroTailBytes - 7; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = block();
      changed[at] = static_cast<char>(value);
      const std::string sealed = ResealFilterBlock(AsBytes(changed)).value_or(changed);
      const std::vector<uint8_t> bytes(sealed.begin(), sealed.end());
      const FilterReader reader = FilterReader::Open(bytes);
      for (uint64_t i = 0; i < 50; ++i) static_cast<void>(reader.MayMatch(KeyNumber(i)));
      Result<ClassicBloom> classic = ClassicBloom::Deserialize(bytes);
      if (classic.ok()) static_cast<void>(classic->Add("key"));
      Result<CountingBloom> counting = CountingBloom::Deserialize(bytes);
      if (counting.ok()) counting->Add("key");
      accepted += classic.ok() || counting.ok();
    }
  }
  EXPECT_GT(accepted, 0u) << "the original is among them";
}

TEST_P(DamagedBloom, AnyPayloadIsProbedWithinItsBounds) {
  std::mt19937_64 random(1);
  const size_t payload = DescribeFilterBlock(AsBytes(block()))->payload_bytes;
  for (int round = 0; round < 200; ++round) {
    std::vector<uint8_t> bytes(block().begin(), block().end());
    for (size_t i = 0; i < payload; ++i) bytes[i] = static_cast<uint8_t>(random());
    const FilterReader reader = FilterReader::Open(bytes);
    for (int i = 0; i < 100; ++i) static_cast<void>(reader.MayMatchHash(random()));
  }
}

// Set bits beyond the last would be counted as keys.
TEST(HostileBloom, BitsBeyondTheLastAreRefused) {
  ClassicBloom filter = *ClassicBloom::Create(*BloomLayout::ForBits(203, 5));
  filter.Add("key");
  std::string block = Copy(*filter.Serialize());
  const FilterInfo info = *DescribeFilterBlock(AsBytes(block));
  block[25] = static_cast<char>(block[25] | 0x80);  // bit 207
  // kind, keys (1 byte), payload bytes (1 byte), then the checksum of the payload
  const size_t checksum_at = static_cast<size_t>(info.payload_bytes) + 3;
  const uint32_t checksum = static_cast<uint32_t>(
      HashKey(std::string_view(block).substr(0, static_cast<size_t>(info.payload_bytes))));
  for (int i = 0; i < 4; ++i) block[checksum_at + i] = static_cast<char>(checksum >> 8 * i);
  block = *ResealFilterBlock(AsBytes(block));
  EXPECT_TRUE(VerifyFilterBlock(AsBytes(block)).ok());
  const Status status = ClassicBloom::Deserialize(AsBytes(block)).status();
  EXPECT_EQ(status.message(), "filter block: bits are set beyond the last of 203 cells");
}

TEST(HostileBloom, AnotherKindIsNamed) {
  const std::string block = Copy(BuildBlock(FilterKind::kBlockedBloom, 0.01, 100));
  const Status status = ClassicBloom::Deserialize(AsBytes(block)).status();
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_EQ(status.message(), "filter block: kind is bloom; allowed here is classic");
}

}  // namespace
}  // namespace blocksieve::testing
