#include "integration/cli/database/file_check.h"

#include <gtest/gtest.h>

namespace blocksieve::cli {
namespace {

// Values of Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I,
// method 3.
TEST(RateInterval, IsWilsonsInterval) {
  const RateInterval many = WilsonInterval(81, 263);
  EXPECT_NEAR(many.low, 0.2553, 5e-5);
  EXPECT_NEAR(many.high, 0.3662, 5e-5);
  const RateInterval few = WilsonInterval(1, 29);
  EXPECT_NEAR(few.low, 0.0061, 5e-5);
  EXPECT_NEAR(few.high, 0.1718, 5e-5);
}

TEST(RateInterval, TouchesTheEndsForNoneOrAll) {
  EXPECT_NEAR(WilsonInterval(0, 20).high, 0.1611, 5e-5);
  EXPECT_NEAR(WilsonInterval(20, 20).low, 1 - 0.1611, 5e-5);
  for (const uint64_t trials : {1, 20, 100, 100'000}) {
    EXPECT_EQ(WilsonInterval(0, trials).low, 0);
    EXPECT_EQ(WilsonInterval(trials, trials).high, 1);
  }
}

}  // namespace
}  // namespace blocksieve::cli
