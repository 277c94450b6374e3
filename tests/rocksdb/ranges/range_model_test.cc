#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <string>

#include "blocksieve/rocksdb/range_filter.h"
#include "tests/rocksdb/ranges/broken_filters.h"
#include "tests/rocksdb/ranges/model_run.h"
#include "tests/support/environment.h"
#include "tests/support/sanitizers.h"

// Databases with range filters against a map: whatever is asked, the answer is the map's. With
// BLOCKSIEVE_LONG_TESTS over BLOCKSIEVE_RANGE_OPERATIONS operations, of all kinds and from seed
// BLOCKSIEVE_RANGE_SEED on.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// Settings differ by seed, so each has few operations.
constexpr uint64_t kOperationsOfSeed = 30'000;

uint64_t RunSeeds(const ModelKind& kind, uint64_t first, uint64_t seeds, ModelReport* report) {
  const uint64_t before = GetRangeFilterCounts().no;
  for (uint64_t seed = first; seed < first + seeds && report->num_wrong == 0; ++seed) {
    RunModel(kind, seed, kOperationsOfSeed, report);
  }
  return GetRangeFilterCounts().no - before;
}

void Print(const ModelReport& report, uint64_t no) {
  std::printf("  %" PRIu64 " operations, %" PRIu64 " seeks, %" PRIu64 " answered no, %" PRIu64
              " wrong\n",
              report.operations, report.seeks, no, report.num_wrong);
  std::fflush(stdout);
}

const ModelKind kKinds[] = {
    {.name = "Bounds"},
    {.name = "PlainReads", .filters = RangeFilters::Ours(true), .plain_reads = true},
    {.name = "Timestamps", .timestamps = true},
    {.name = "Threads", .reads_in_threads = true},
};

class RangeModel : public ::testing::TestWithParam<ModelKind> {};

TEST_P(RangeModel, SeeksFindWhatIsThere) {
  ModelReport report;
  const uint64_t no = RunSeeds(GetParam(), 1, kThreadSanitizer ? 1 : 3, &report);
  Print(report, no);
  EXPECT_EQ(report.num_wrong, 0u) << report.first_wrong;
  EXPECT_GT(no, report.seeks / 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RangeModel, ::testing::ValuesIn(kKinds), ParamNames());

TEST(RangeModelLong, SeeksFindWhatIsThere) {
  if (!LongTests()) GTEST_SKIP() << "long";
  const uint64_t operations = NumberFromEnvironment("BLOCKSIEVE_RANGE_OPERATIONS", 100'000'000);
  uint64_t seed = NumberFromEnvironment("BLOCKSIEVE_RANGE_SEED", 1000);
  ModelReport report;
  uint64_t no = 0;
  // To see whether what is wrong is RocksDB's own.
  const bool never_no = IsSet("BLOCKSIEVE_RANGE_NEVER_NO");
  for (uint64_t i = 0; report.operations < operations && report.num_wrong == 0; ++i) {
    ModelKind kind = kKinds[i % std::size(kKinds)];
    if (never_no) kind.filters = FiltersThatNeverSayNo();
    no += RunSeeds(kind, seed++, 1, &report);
    if (i % 40 == 39) Print(report, no);
  }
  Print(report, no);
  EXPECT_EQ(report.num_wrong, 0u) << report.first_wrong;
}

}  // namespace
}  // namespace blocksieve
