#include "bench/support/dataset.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "blocksieve/granule_index_builder.h"
#include "tests/bench/made_up_rows.h"

namespace blocksieve::bench {
namespace {

TEST(DatasetTest, RealRowsHaveTheirKeyAndTheirValueAsColumns) {
  const Dataset dataset = MakeRealDataset(PathsAndPackages(1'000), "package", 1);
  EXPECT_EQ(dataset.rows.value(0), "/usr/dir000/file0000\tpkg0");
  ASSERT_EQ(dataset.columns.size(), 2U);
  EXPECT_EQ(dataset.rewritten.size(), 200U);
  const std::vector<std::string_view> values = dataset.Values(false);
  EXPECT_EQ(values, dataset.Values(true));
  const std::vector<Query> packages = DrawQueries(dataset, 0, values, 1'000, 1);
  EXPECT_EQ(packages.size(), 20U);
  size_t rows = 0;
  for (const Query& query : packages) {
    rows += query.rows.size();
    for (const uint32_t row : query.rows) EXPECT_TRUE(query.predicate.Matches(values[row]));
  }
  EXPECT_EQ(rows, 1'000U);
  // "usr", ten directories, a thousand files
  EXPECT_EQ(DrawQueries(dataset, 1, values, 10'000, 1).size(), 1U + 10 + 1'000);
  EXPECT_EQ(DrawQueries(dataset, 1, values, 7, 1).size(), 7U);
}

TEST(DatasetTest, EverySyntheticValueOccursOnceInAThousandGranules) {
  const Dataset dataset = MakeSyntheticDataset(2 * kScatteredValues, 1);
  const std::vector<std::string_view> before = dataset.Values(false);
  const std::vector<std::string_view> after = dataset.Values(true);
  std::map<std::string_view, std::set<size_t>> granules;
  size_t num_changed = 0;
  for (size_t row = 0; row < before.size(); ++row) {
    const std::string_view scattered = before[row].substr(before[row].find('\t'));
    granules[scattered.substr(0, 8)].insert(row / kDefaultGranuleRows);
    num_changed += before[row] != after[row];
    // Rewriting keeps the run.
    EXPECT_EQ(before[row].substr(0, before[row].find('\t')),
              after[row].substr(0, after[row].find('\t')));
  }
  EXPECT_EQ(granules.size(), kScatteredValues);
  for (const auto& [value, set] : granules) ASSERT_EQ(set.size(), 2U) << value;
  EXPECT_GT(num_changed, before.size() / 6);
  EXPECT_LE(num_changed, before.size() / 5);
}

}  // namespace
}  // namespace blocksieve::bench
