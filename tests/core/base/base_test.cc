// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "blocksieve/status.h"
#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/bits/packed.h"
#include "lib/bloom/blocked_bloom.h"

namespace blocksieve {
namespace {

TEST(ResultTest, ReadingTheValueOfAnErrorThrowsItsReason) {
  const Result<int> error = Status::InvalidArgument("why");
  try {
    EXPECT_EQ(*error, 0);
    FAIL();
  } catch (const NoValue& no_value) {
    EXPECT_STREQ(no_value.what(), "why");
  }
  EXPECT_FALSE(Result<int>(Status::Ok()).ok());
}

TEST(CodingTest, NumbersRoundTrip) {
  std::vector<uint64_t> values{0, std::numeric_limits<uint64_t>::max()};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  for (const uint64_t value : values) {
    std::string bytes;
    AppendVarint(&bytes, value);
    Decoder decoder(AsBytes(bytes));
    EXPECT_EQ(decoder.Varint(), value);
    EXPECT_TRUE(decoder.ok());
    for (size_t length = 0; length < bytes.size(); ++length) {
      Decoder cut(AsBytes(std::string_view(bytes).substr(0, length)));
      cut.Varint();
      EXPECT_FALSE(cut.ok());
    }
    const uint64_t three[] = {value, 0, value / 3};
    std::string packed;
    internal::PackedInts::Append(three, &packed);
    Decoder from(AsBytes(packed));
    const auto ints = internal::PackedInts::Read(3, &from);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ints[i], three[i]) << value;
  }
}

TEST(CodingTest, RefusesVarintsAbove64Bits) {
  for (const std::string& bytes : {std::string(9, '\xff') + "\x02",
                                   std::string(10, '\xff') + "\x01", std::string(20, '\x80')}) {
    Decoder decoder(AsBytes(bytes));
    decoder.Varint();
    EXPECT_FALSE(decoder.ok());
  }
}

TEST(CodingTest, EveryReadAfterAFailureFails) {
  Decoder decoder(AsBytes("abc"));
  decoder.Fixed<uint32_t>();
  EXPECT_FALSE(decoder.ok());
  EXPECT_EQ(decoder.Fixed<uint8_t>(), 0);
  EXPECT_FALSE(decoder.ok());
  Decoder bytes(AsBytes("abc"));
  EXPECT_EQ(bytes.Bytes(3).size(), 3u);
  EXPECT_TRUE(bytes.ok());
  bytes.Bytes(1);
  EXPECT_FALSE(bytes.ok());
  Decoder huge(AsBytes("abc"));
  huge.Bytes(std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(huge.ok());
}

TEST(KernelsTest, BlockedBloomFillsAndProbesAgree) {
  std::mt19937_64 random(4);
  for (uint32_t num_probes = 1; num_probes <= internal::kMaxLineProbes; ++num_probes) {
    // The larger number of lines takes the path that prefetches.
    for (const uint64_t num_lines : {uint64_t{1}, uint64_t{20}, uint64_t{50'000}}) {
      std::vector<uint64_t> hashes(1001);
      for (uint64_t& hash : hashes) hash = random();
      std::vector<uint8_t> expected(num_lines * internal::kLineBytes);
      internal::BlockedBloomFill(Kernel::kScalar, num_probes)(hashes, num_lines, expected.data());
      const internal::BloomState state =
          internal::MakeBloomState(expected.data(), num_lines, num_probes);
      for (const Kernel kernel : internal::AvailableKernels()) {
        std::vector<uint8_t> lines(expected.size());
        internal::BlockedBloomFill(kernel, num_probes)(hashes, num_lines, lines.data());
        ASSERT_EQ(lines, expected) << KernelName(kernel) << " k " << num_probes;
        const ProbeOps& ops = internal::BlockedBloomOps(kernel, num_probes);
        for (int i = 0; i < 10'000; ++i) {
          const uint64_t hash = random();
          ASSERT_EQ(PointFilter(ops, state).MayContainHash(hash),
                    PointFilter(internal::kBlockedBloomScalar, state).MayContainHash(hash))
              << KernelName(kernel) << " k " << num_probes << " hash " << hash;
        }
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve
