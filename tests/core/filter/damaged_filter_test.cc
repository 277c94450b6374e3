#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/internal/kernels.h"
#include "lib/filter/format_of.h"
#include "lib/hash/checksum.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/reseal.h"

// pitfalls 13 to 15: whatever cannot be read may match; damage is found by the checksums.

namespace blocksieve::testing {
namespace {

class DamagedFilter : public ::testing::TestWithParam<FilterKind> {
 protected:
  static constexpr uint64_t kKeys = 300;
  std::string block_ = Copy(BuildBlock(GetParam(), 0.01, kKeys));
};

INSTANTIATE_TEST_SUITE_P(Kinds, DamagedFilter, ::testing::ValuesIn(BuildableKinds()),
                         [](const auto& info) { return std::string(FilterKindName(info.param)); });

void ExpectUnreadable(std::string_view block, const std::string& what) {
  // A copy without slack, so that a sanitizer sees a read beyond the end.
  const std::vector<uint8_t> bytes(block.begin(), block.end());
  const FilterReader reader = FilterReader::Open(bytes);
  EXPECT_EQ(reader.state(), FilterReader::State::kUnreadable) << what;
  EXPECT_TRUE(reader.MayMatch(AbsentKey(1))) << what;
  EXPECT_TRUE(reader.MayMatch(PresentKey(1))) << what;
  EXPECT_FALSE(DescribeFilterBlock(bytes).ok()) << what;
  EXPECT_FALSE(VerifyFilterBlock(bytes).ok()) << what;
}

TEST_P(DamagedFilter, EveryTruncationMayMatch) {
  for (size_t length = 0; length < block_.size(); ++length) {
    ExpectUnreadable(block_.substr(0, length), "first " + std::to_string(length));
    ExpectUnreadable(block_.substr(block_.size() - length), "last " + std::to_string(length));
  }
}

TEST_P(DamagedFilter, EveryFlippedBitIsNoticedAndLosesNoKeyUnnoticed) {
  const size_t footer = DescribeFilterBlock(AsBytes(block_))->payload_bytes;
  for (size_t bit = 0; bit < 8 * block_.size(); ++bit) {
    std::string damaged = block_;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(VerifyFilterBlock(AsBytes(damaged)).ok()) << bit;
    if (bit / 8 >= footer) ExpectUnreadable(damaged, "bit " + std::to_string(bit));
  }
}

TEST_P(DamagedFilter, AnyPayloadIsProbedWithinItsBounds) {
  std::mt19937_64 random(1);
  const size_t payload = DescribeFilterBlock(AsBytes(block_))->payload_bytes;
  for (int round = 0; round < 200; ++round) {
    std::vector<uint8_t> bytes(block_.begin(), block_.end());
    for (size_t i = 0; i < payload; ++i) bytes[i] = static_cast<uint8_t>(random());
    for (const Kernel kernel : internal::AvailableKernels()) {
      const FilterReader reader = FilterReader::Open(bytes, kernel);
      const FilterReader scalar = FilterReader::Open(bytes, Kernel::kScalar);
      for (int i = 0; i < 100; ++i) {
        const uint64_t hash = random();
        ASSERT_EQ(reader.MayMatchHash(hash), scalar.MayMatchHash(hash));
      }
    }
  }
}

TEST_P(DamagedFilter, RandomBytesMayMatch) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 100, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (round % 2 == 0) bytes.append(kZeroTailBytes, '\0');
    ExpectUnreadable(bytes, "random");
  }
}

TEST_P(DamagedFilter, NewerVersionIsNotSupported) {
  std::string newer = block_;
  newer[newer.size() - kZeroTailBytes - 6] = kFilterFormatVersion + 1;
  newer = ResealFilterBlock(AsBytes(newer)).value();
  ExpectUnreadable(newer, "version");
  const Status status = DescribeFilterBlock(AsBytes(newer)).status();
  EXPECT_EQ(status.code(), StatusCode::kNotSupported);
  EXPECT_NE(status.message().find("format version is 2"), std::string::npos) << status.message();
}

// An empty filter denies every key: only a kind that is known may say that it is empty.
TEST_P(DamagedFilter, EmptyFiltersOfUnknownKindsMayMatch) {
  const std::string empty = Copy(BuildBlock(GetParam(), 0.01, 0));
  for (int kind = 0; kind < 16; ++kind) {
    std::string changed = empty;
    changed[0] = static_cast<char>((changed[0] & 0xf0) | kind);
    changed = ResealFilterBlock(AsBytes(changed)).value();
    const bool has_same_fields = kind == static_cast<int>(FilterKind::kBlockedBloom) ||
                                 kind == static_cast<int>(FilterKind::kRibbon);
    if (!has_same_fields) ExpectUnreadable(changed, "kind " + std::to_string(kind));
  }
}

TEST_P(DamagedFilter, AnEmptyFilterHasNoPayload) {
  FilterInfo info;
  info.kind = GetParam();
  info.payload_bytes = 1;
  info.payload_checksum = Checksum(AsBytes("x"));
  const internal::FooterBytes footer = internal::EncodeFooter(info, internal::FormatOf(info.kind));
  ExpectUnreadable("x" + std::string(AsText(footer.view())), "a payload");
}

// Every byte of the footer takes every value, under a checksum that fits: what is then accepted
// must still be probed within bounds.
TEST_P(DamagedFilter, EveryFooterByteMayTakeEveryValue) {
  const size_t payload = DescribeFilterBlock(AsBytes(block_))->payload_bytes;
  const size_t fields_end = block_.size() - kZeroTailBytes - 7;
  for (size_t at = payload; at < fields_end; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = block_;
      changed[at] = static_cast<char>(value);
      changed = ResealFilterBlock(AsBytes(changed)).value();
      const std::vector<uint8_t> bytes(changed.begin(), changed.end());
      for (const Kernel kernel : internal::AvailableKernels()) {
        const FilterReader reader = FilterReader::Open(bytes, kernel);
        for (uint64_t i = 0; i < 50; ++i) static_cast<void>(reader.MayMatch(KeyNumber(i)));
      }
    }
  }
}

TEST_P(DamagedFilter, ForeignTailsMayMatch) {
  ExpectUnreadable("", "nothing");
  ExpectUnreadable(std::string(5, '\0'), "five zeros");
  ExpectUnreadable(std::string(6, '\0'), "RocksDB's \"always may match\"");
  ExpectUnreadable(std::string(1000, '\0'), "zeros");
  std::string stock = std::string(640, 'x') + std::string("\xff\x00\x06\x00\x00", 5);
  ExpectUnreadable(stock, "a filter of RocksDB");
  EXPECT_FALSE(HasFilterBlockTail(AsBytes(stock)));
}

}  // namespace
}  // namespace blocksieve::testing
