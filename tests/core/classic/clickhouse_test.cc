#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

#include "blocksieve/bloom.h"
#include "lib/classic/positions.h"

namespace blocksieve::testing {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

/// (bits per key, hash functions); (0, 0) for an error.
Pair Choose(double target_fpr) {
  const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
  return layout.ok() ? Pair(layout->bits_per_key, layout->num_probes) : Pair(0, 0);
}

double JustBelow(double value) { return std::nextafter(value, 0.0); }

TEST(ClickHouseTableTest, DecidesAsClickHouseDoes) {
  const std::pair<double, Pair> pinned[] = {
      {0.8, {2, 2}},
      {0.5, {2, 2}},
      {0.282, {3, 2}},
      {0.2, {4, 2}},
      {0.1, {5, 3}},
      {0.05, {7, 3}},
      {0.025, {8, 4}},
      {0.01, {10, 5}},
      {0.001, {15, 7}},
      {0.0012, {14, 10}},
      {0.237, {3, 2}},
      {1.09e-4, {19, 13}},
      // Borders between rows, and between hash functions of a row.
      {1, {2, 2}},
      {0.4, {2, 2}},
      {0.393, {2, 1}},
      {JustBelow(0.393), {3, 1}},
      {0.283, {3, 1}},
      {JustBelow(0.283), {3, 2}},
      {0.23, {4, 1}},
      {0.221, {4, 1}},
      {JustBelow(0.221), {4, 2}},
      {1e-4, {20, 10}},
      {8.89e-5, {20, 10}},
      {6.71e-5, {20, 14}},
  };
  for (const auto& [target_fpr, expected] : pinned) {
    EXPECT_EQ(Choose(target_fpr), expected) << target_fpr;
  }
}

// Targets at which ClickHouse's search leaves the row, or ends in a row that misses the target.
TEST(ClickHouseTableTest, MeetsTheTargetWhereClickHouseDoesNot) {
  EXPECT_EQ(Choose(JustBelow(0.4)), Pair(2, 1));       // (2, 2) in ClickHouse
  EXPECT_EQ(Choose(JustBelow(0.237)), Pair(4, 1));     // (19, 13)
  EXPECT_EQ(Choose(JustBelow(1.09e-4)), Pair(20, 9));  // (19, 13)
}

TEST(ClickHouseTableTest, TargetsOutOfReachAreErrors) {
  for (const double target_fpr :
       {JustBelow(6.71e-5), 1e-5, 0.0, -0.1, 1.1, std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
    ASSERT_FALSE(layout.ok()) << target_fpr;
    EXPECT_EQ(layout.status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(clickhouse_best_practice(1e-5).status().message(),
            "target_fpr is 1e-05; allowed: 6.71e-05 to 1");
}

TEST(ClickHouseTableTest, MeetsEveryTargetButForTheThirdDigit) {
  for (double target_fpr = 6.71e-5; target_fpr <= 1; target_fpr *= 1.0003) {
    const Result<ClickHouseLayout> layout = clickhouse_best_practice(target_fpr);
    ASSERT_TRUE(layout.ok()) << target_fpr;
    EXPECT_LE(internal::ClassicBloomFpr(layout->bits_per_key, layout->num_probes),
              1.005 * target_fpr);
  }
}

}  // namespace
}  // namespace blocksieve::testing
