#include "lib/postings/posting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace blocksieve::internal {
namespace {

/// Sorts `num_granules` granules of `values_per_granule` hashes that `draw` makes of random
/// numbers.
template <class Draw>
void ExpectSorted(size_t num_granules, size_t values_per_granule, Draw draw) {
  std::mt19937_64 random(num_granules);
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> counts;
  std::vector<std::pair<uint64_t, uint32_t>> expected;
  for (uint32_t granule = 0; granule < num_granules; ++granule) {
    counts.push_back(granule % 3 == 2 ? 0 : values_per_granule);
    for (uint64_t i = 0; i < counts.back(); ++i) {
      hashes.push_back(draw(random()));
      expected.emplace_back(hashes.back(), granule);
    }
  }
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const SortedPostings sorted({hashes, counts});
  ASSERT_EQ(sorted.all().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(sorted.all()[i].hash, expected[i].first) << i;
    ASSERT_EQ(sorted.all()[i].granule, expected[i].second) << i;
  }
  size_t next = 0;
  ForEachList(sorted.all(), [&](PostingList list) {
    ASSERT_EQ(list.data(), sorted.all().data() + next);
    next += list.size();
    ASSERT_EQ(list.front().hash, list.back().hash);
    if (next < sorted.all().size()) {
      ASSERT_LT(list.front().hash, sorted.all()[next].hash);
    }
  });
  EXPECT_EQ(next, expected.size());
}

TEST(SortedPostings, AscendByHashAndGranule) {
  for (const size_t num_granules : {0, 1, 10, 1000, 20'000}) {
    ExpectSorted(num_granules, 7, [](uint64_t number) { return number; });
    ExpectSorted(num_granules, 7, [](uint64_t number) { return std::mt19937_64(number % 100)(); });
    ExpectSorted(num_granules, 7, [](uint64_t number) { return std::mt19937_64(number % 3)(); });
  }
}

TEST(SortedPostings, OfHashesThatBeginAlike) {
  for (const int same_bits : {11, 19, 27, 60}) {
    ExpectSorted(3000, 5, [=](uint64_t number) { return number >> same_bits; });
    ExpectSorted(3000, 5, [=](uint64_t number) {
      return number % 4 == 0 ? number : number >> same_bits | number << 63;
    });
  }
}

}  // namespace
}  // namespace blocksieve::internal
