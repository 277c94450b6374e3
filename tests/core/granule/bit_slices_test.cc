#include "lib/granule/bit_slices.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "lib/base/kernels.h"

namespace blocksieve::internal {
namespace {

bool BitAt(const std::vector<uint8_t>& bytes, uint64_t bit) {
  return bit / 8 < bytes.size() && (bytes[bit / 8] >> (bit % 8) & 1) != 0;
}

TEST(BitSlices, StrideWastesLittle) {
  for (uint64_t filters = 1; filters < 100'000; filters += 1 + filters / 50) {
    EXPECT_GE(BitSlices::StrideBits(filters), filters);
    EXPECT_LE(static_cast<double>(BitSlices::StrideBits(filters)),
              1.014 * static_cast<double>(filters));
  }
}

TEST(BitSlices, SizeSaturates) {
  EXPECT_EQ(BitSlices::NumBytes(uint64_t{1} << 40, uint64_t{1} << 40), ~uint64_t{0});
}

/// Random bits, and each filter's result by a check of single bits.
struct RandomSlices {
  std::vector<uint8_t> bytes;
  BitSlices slices;

  RandomSlices(uint64_t num_rows, uint64_t num_filters, uint32_t num_probes, uint64_t seed) {
    bytes.resize(BitSlices::NumBytes(num_rows, num_filters));
    std::mt19937_64 random(seed);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() | random());
    slices = {bytes, num_rows, num_filters, num_probes};
  }

  bool Contains(uint64_t filter, uint64_t hash) const {
    Positions positions(hash, slices.num_rows);
    for (uint32_t j = 0; j < slices.num_probes; ++j) {
      const uint64_t stride = BitSlices::StrideBits(slices.num_filters);
      if (!BitAt(bytes, positions.Next() * stride + filter)) return false;
    }
    return true;
  }
};

TEST(BitSlices, EveryKernelMatchesSingleFilters) {
  std::mt19937_64 random(3);
  for (const uint64_t num_filters :
       {1, 7, 8, 63, 64, 65, 127, 500, 511, 512, 513, 519, 1000, 2048, 2049, 4097, 9999}) {
    const RandomSlices filters(50 + random() % 100, num_filters,
                               1 + static_cast<uint32_t>(random() % 5), random());
    for (const size_t num_hashes : {1, 2, 5}) {
      std::vector<uint64_t> hashes(num_hashes);
      for (uint64_t& hash : hashes) hash = random();
      std::vector<uint64_t> candidates((num_filters + 63) / 64);
      for (uint64_t f = 0; f < num_filters; ++f) {
        candidates[f / 64] |= uint64_t{random() % 4 != 0} << (f % 64);
      }
      std::vector<uint64_t> expected(candidates.size());
      for (uint64_t f = 0; f < num_filters; ++f) {
        bool contains = false;
        for (const uint64_t hash : hashes) contains |= filters.Contains(f, hash);
        expected[f / 64] |= (candidates[f / 64] >> (f % 64) & uint64_t{contains}) << (f % 64);
      }
      for (const Kernel kernel : AvailableKernels()) {
        std::vector<uint64_t> kept = candidates;
        filters.slices.PruneByAny(hashes, kept, kernel);
        ASSERT_EQ(kept, expected) << num_filters << " filters, " << KernelName(kernel);
      }
    }
  }
}

TEST(BitSlices, EmptyFiltersContainNothing) {
  const BitSlices slices{{}, 0, 100, 7};
  std::vector<uint64_t> candidates(2, ~uint64_t{0});
  const uint64_t hash = 17;
  slices.PruneByAny({&hash, 1}, candidates, Kernel::kScalar);
  EXPECT_EQ(candidates, std::vector<uint64_t>(2, 0));
}

}  // namespace
}  // namespace blocksieve::internal
