#include "tests/rocksdb/model/broken_filters.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>

#include "tests/rocksdb/model/model_run.h"

// That the model check finds what it is for: filters that break a rule give wrong seeks, and those
// that keep all of them do not.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

struct Broken {
  const char* name;
  RangeRule without;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenRangeFilters : public ::testing::TestWithParam<Broken> {};

// Single-threaded, so that the first seed that shows the fault is always the same. One in six does,
// or more.
TEST_P(BrokenRangeFilters, AreFoundByTheModel) {
  const ModelKind kind{
      .name = "broken", .filters = FiltersWithout(GetParam().without), .is_repeatable = true};
  ModelReport report;
  for (uint64_t seed = 1; seed <= 40 && report.num_wrong == 0; ++seed) {
    RunModel(kind, seed, kOperationsOfSeed, &report);
  }
  EXPECT_GT(report.num_wrong, 0u);
  std::printf("  %s", report.first_wrong.c_str());
}

INSTANTIATE_TEST_SUITE_P(Rules, BrokenRangeFilters,
                         ::testing::Values(Broken{"Pairing", RangeRule::kPairing},
                                           Broken{"Partitions", RangeRule::kPartitions},
                                           Broken{"EmptyBegin", RangeRule::kEmptyBegin}),
                         ParamNames());

TEST(BrokenRangeFilters, ThatBreakNothingAreRight) {
  const ModelKind kind{
      .name = "whole", .filters = FiltersWithout(RangeRule::kNone), .is_repeatable = true};
  ModelReport report;
  RunModel(kind, 1, kOperationsOfSeed / 3, &report);
  EXPECT_EQ(report.num_wrong, 0u) << report.first_wrong;
}

}  // namespace
}  // namespace blocksieve
