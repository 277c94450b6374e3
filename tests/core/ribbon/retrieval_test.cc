#include "lib/ribbon/retrieval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lib/base/kernels.h"
#include "tests/core/ribbon/ribbon_test_builds.h"

namespace blocksieve::internal {
namespace {

using testing::RandomHashes;

struct Stored {
  std::vector<uint64_t> hashes;
  std::vector<uint32_t> results;
};

Stored RandomNumbers(size_t count, uint32_t columns) {
  Stored stored{RandomHashes(count, count + columns), {}};
  std::sort(stored.hashes.begin(), stored.hashes.end());
  std::mt19937_64 random(columns);
  for (size_t i = 0; i < count; ++i) {
    stored.results.push_back(static_cast<uint32_t>(random() & ((uint64_t{1} << columns) - 1)));
  }
  return stored;
}

std::string Make(const Stored& stored, uint32_t columns, Kernel kernel = ActiveKernel()) {
  RetrievalWriter writer(stored.hashes.size(), columns, kernel);
  for (size_t i = 0; i < stored.hashes.size(); ++i) {
    writer.Add(stored.hashes[i], stored.results[i]);
  }
  std::string bytes;
  EXPECT_TRUE(writer.Append(&bytes));
  return bytes;
}

/// A copy in memory of exactly its size.
class OpenMap {
 public:
  explicit OpenMap(const std::string& map) : bytes_(map.begin(), map.end()) {
    bytes_.resize(map.size() + kRetrievalTail, 0xee);
  }
  bool Open() {
    Decoder decoder(bytes_);
    return map_.Open(&decoder) && decoder.rest().size() == kRetrievalTail;
  }
  const Retrieval& map() const { return map_; }

 private:
  std::vector<uint8_t> bytes_;
  Retrieval map_;
};

TEST(RetrievalTest, ReturnsTheStoredNumbers) {
  for (const uint32_t columns : {1u, 2u, 8u, 13u, 24u}) {
    for (const size_t count : {1u, 2u, 7u, 63u, 64u, 65u, 300u, 1000u, 1500u, 30'000u}) {
      // Equal results for all hashes, as if every value were in the same granule.
      for (const bool are_equal : {false, true}) {
        SCOPED_TRACE(std::to_string(count) + " numbers of " + std::to_string(columns));
        Stored stored = RandomNumbers(count, columns);
        if (are_equal) stored.results.assign(count, (uint32_t{1} << columns) - 1);
        const std::string bytes = Make(stored, columns, Kernel::kScalar);
        for (const Kernel kernel : AvailableKernels()) {
          ASSERT_EQ(Make(stored, columns, kernel), bytes) << KernelName(kernel);
        }
        OpenMap open(bytes);
        ASSERT_TRUE(open.Open());
        EXPECT_EQ(open.map().columns(), columns);
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(open.map().Get(stored.hashes[i]), stored.results[i]) << i;
        }
      }
    }
  }
}

TEST(RetrievalTest, TakesHardlyMoreThanTheNumbers) {
  for (const size_t count : {1000u, 30'000u, 200'000u}) {
    const std::string bytes = Make(RandomNumbers(count, 12), 12);
    EXPECT_LE(static_cast<double>(8 * bytes.size()), 12.1 * static_cast<double>(count) + 300);
  }
}

TEST(RetrievalTest, TruncatedMapsDoNotOpen) {
  const std::string good = Make(RandomNumbers(100, 7), 7);
  for (size_t size = 0; size < good.size() + kRetrievalTail; ++size) {
    std::vector<uint8_t> bytes(good.begin(), good.end());
    bytes.resize(good.size() + kRetrievalTail);
    bytes.resize(size);
    Decoder decoder(bytes);
    EXPECT_FALSE(Retrieval().Open(&decoder)) << size;
  }
}

}  // namespace
}  // namespace blocksieve::internal
