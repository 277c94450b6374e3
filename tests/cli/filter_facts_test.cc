#include "integration/cli/database/table/table_file.h"

#include <gtest/gtest.h>

#include "blocksieve/filter.h"
#include "integration/cli/database/file_check.h"
#include "tests/support/key_sets.h"

namespace blocksieve::cli {
namespace {

std::string BuildFilter(size_t num_keys, double fpr, const std::string& prefixes = "") {
  const auto keys = testing::PresentKeys(testing::KeyShape::kCounter, num_keys);
  const auto filter =
      Filter::Build(keys, {.kind = FilterKind::kRibbon, .target_fpr = fpr, .prefixes = prefixes});
  return std::string(AsText(filter->bytes()));
}

double RateOf(const std::string& filter) { return DescribeFilter(AsBytes(filter))->predicted_fpr; }

double MeanRate(const std::vector<std::string>& filters) {
  FilterReport report;
  DescribeFilters(filters, 1, &report);
  return report.predicted_fpr;
}

// The last partition of a file, which has few keys.
TEST(FilterFactsTest, FiltersAreWeightedByTheirKeys) {
  const std::string many = BuildFilter(9'900, 0.001);
  const std::string few = BuildFilter(100, 0.1);
  EXPECT_DOUBLE_EQ(MeanRate({many}), RateOf(many));
  EXPECT_DOUBLE_EQ(MeanRate({many, few}), 0.99 * RateOf(many) + 0.01 * RateOf(few));
}

TEST(FilterFactsTest, UnreadableFiltersHaveTypicalWeight) {
  const std::string readable = BuildFilter(1000, 0.001);
  std::string damaged = readable;
  damaged[damaged.size() - 8] ^= 1;
  EXPECT_DOUBLE_EQ(MeanRate({damaged}), 1);
  EXPECT_DOUBLE_EQ(MeanRate({readable, damaged, readable}), (2 * RateOf(readable) + 1) / 3);
}

TEST(FilterFactsTest, SaysWhyAFilterCannotBeRead) {
  const std::string ribbon_without_slots("data\xfe\0\0\0\0", 9);
  const std::string legacy_without_lines("data\6\0\0\0\0", 9);
  const std::string legacy_with_long_lines(std::string(512, 'x') + std::string("\6\1\0\0\0", 5));
  std::string unknown_rule = BuildFilter(100, 0.01, "lengths:7");
  unknown_rule[unknown_rule.rfind(std::string("\x02\x07\0", 3))] = 9;
  for (const std::string& filter : {std::string(), std::string(16, '\0'), ribbon_without_slots,
                                    legacy_without_lines, legacy_with_long_lines, unknown_rule}) {
    FilterReport report;
    DescribeFilters({filter}, 1, &report);
    EXPECT_EQ(report.problems.size(), 1U);
  }
}

// Values of Newcombe, "Two-sided confidence intervals for the single proportion", 1998, table I,
// method 3.
TEST(WilsonIntervalTest, HasThePublishedBounds) {
  const auto [low, high] = WilsonInterval(81, 263);
  EXPECT_NEAR(low, 0.2553, 5e-5);
  EXPECT_NEAR(high, 0.3662, 5e-5);
  const auto [low_of_few, high_of_few] = WilsonInterval(1, 29);
  EXPECT_NEAR(low_of_few, 0.0061, 5e-5);
  EXPECT_NEAR(high_of_few, 0.1718, 5e-5);
  EXPECT_EQ(WilsonInterval(0, 20).first, 0);
  EXPECT_EQ(WilsonInterval(20, 20).second, 1);
}

}  // namespace
}  // namespace blocksieve::cli
