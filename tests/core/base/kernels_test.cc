#include "lib/base/kernels.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "blocksieve/hash.h"
#include "lib/bloom/blocked_bloom.h"

namespace blocksieve {
namespace {

TEST(Kernels, NamesRoundTrip) {
  for (const Kernel kernel : {Kernel::kScalar, Kernel::kAvx2, Kernel::kAvx512, Kernel::kNeon}) {
    EXPECT_EQ(internal::ParseKernel(KernelName(kernel)), kernel);
  }
  EXPECT_FALSE(internal::ParseKernel("avx9"));
  EXPECT_FALSE(internal::ParseKernel(""));
}

TEST(Kernels, ScalarIsAlwaysAvailable) {
  EXPECT_EQ(internal::AvailableKernels().front(), Kernel::kScalar);
  EXPECT_TRUE(internal::IsAvailable(ActiveKernel()));
}

TEST(Kernels, BlockedBloomProbesAgree) {
  constexpr uint64_t kLines = 37;
  std::mt19937_64 random(3);
  std::vector<uint8_t> lines(kLines * internal::kLineBytes);
  for (uint32_t num_probes = 1; num_probes <= internal::kMaxLineProbes; ++num_probes) {
    for (int round = 0; round < 20; ++round) {
      // From almost no bits set to almost all, so that probes pass and fail at every position.
      for (uint8_t& byte : lines) {
        byte = static_cast<uint8_t>(random() | (round > 5 ? random() : 0) |
                                    (round > 10 ? random() | random() : 0));
      }
      internal::FilterView view{};
      view.data = lines.data();
      view.blocked_bloom = internal::MakeBlockedBloomView(kLines, num_probes);
      const internal::ProbeOps& scalar = internal::kBlockedBloomScalar;
      for (const Kernel kernel : internal::AvailableKernels()) {
        const internal::ProbeOps& ops = internal::BlockedBloomOps(kernel, num_probes);
        for (int i = 0; i < 2000; ++i) {
          const uint64_t hash = random();
          ASSERT_EQ(ops.may_match_hash(view, hash), scalar.may_match_hash(view, hash))
              << KernelName(kernel) << " k " << num_probes << " hash " << hash;
        }
      }
    }
  }
}

TEST(Kernels, BlockedBloomFillsAgree) {
  std::mt19937_64 random(4);
  for (uint32_t num_probes = 1; num_probes <= internal::kMaxLineProbes; ++num_probes) {
    // The larger number of lines takes the path that prefetches.
    for (const uint64_t num_lines : {uint64_t{1}, uint64_t{20}, uint64_t{50'000}}) {
      std::vector<uint64_t> hashes(1001);
      for (uint64_t& hash : hashes) hash = random();
      std::vector<uint8_t> expected(num_lines * internal::kLineBytes);
      internal::BlockedBloomFill(Kernel::kScalar, num_probes)(hashes, num_lines, expected.data());
      for (const Kernel kernel : internal::AvailableKernels()) {
        std::vector<uint8_t> lines(expected.size());
        internal::BlockedBloomFill(kernel, num_probes)(hashes, num_lines, lines.data());
        ASSERT_EQ(lines, expected) << KernelName(kernel) << " k " << num_probes;
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve
