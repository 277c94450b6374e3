// The parts of bench/run toylsm: counts and results.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "bench/support/inputs.h"
#include "bench/toylsm/lookups.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::toy {
namespace {

// The whole job on few rows: the figures must fit together.
TEST(ToyExperimentTest, FiguresFitTogether) {
  TestJob test;
  MeasureLookups(MakeSynthetic(20'000, 1, UINT64_MAX).rows, 5'000, test.job);
  const ResultRows rows(test);
  for (const char* const filters : {"no filter", "blocked Bloom, per file", "ribbon, per file",
                                    "blocked Bloom, per granule", "ribbon, per granule"}) {
    const Json of = {{"name", filters}};
    const Json absent = {{"name", filters}, {"keys", "absent keys"}};
    const Json present = {{"name", filters}, {"keys", "present keys"}};
    rows.ExpectWithin("data blocks: all", present, 1, 10);
    rows.ExpectWithin("block indexes", of, 1, 1e9);
    if (std::string(filters) == "no filter") {
      EXPECT_EQ(rows.Value("size", of), 0);
      EXPECT_EQ(rows.Value("filter blocks: all", absent), 0);
      rows.ExpectWithin("data blocks: all", absent, 2, 10);
      continue;
    }
    rows.ExpectWithin("data blocks: all", absent, 0, 0.1);
    rows.ExpectWithin("filter blocks: all", absent, 1, 10);
    // Lookups miss the key ranges of some runs.
    rows.ExpectWithin("wasted data blocks, relative to FPR × runs", of, 0.3, 1.3);
    rows.ExpectWithin("in the cache: share", of, 0, 1);
  }
}

}  // namespace
}  // namespace blocksieve::bench::toy
