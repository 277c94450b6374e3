#include "bench/support/median.h"

#include <gtest/gtest.h>

namespace blocksieve::bench {
namespace {

TEST(MedianTest, OfOddAndEvenCounts) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 100}), 3);
}

}  // namespace
}  // namespace blocksieve::bench
