#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>

#include <iostream>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/rocksdb/model/model_run.h"
#include "tests/support/environment.h"

// Compares databases with filters with a map, and with iterators that use no filter: all answers
// must be equal. BLOCKSIEVE_LONG_TESTS runs BLOCKSIEVE_RANGE_OPERATIONS operations, all kinds
// together, with seeds from BLOCKSIEVE_RANGE_SEED on.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

const ModelKind kKinds[] = {
    {.name = "Bounds"},
    {.name = "PlainReads", .plain_reads = true},
    {.name = "Timestamps", .timestamps = true},
    {.name = "Threads", .reads_in_threads = true},
    {.name = "Prefixes", .has_prefixes = true},
    {.name = "Points", .points_only = true},
    {.name = "Repeatable", .is_repeatable = true},
};

class DatabaseModelTest : public ::testing::TestWithParam<ModelKind> {};

TEST_P(DatabaseModelTest, FindsEveryRow) {
  const ModelKind& kind = GetParam();
  uint64_t first = 1;
  uint64_t seeds = kThreadSanitizer || kind.is_repeatable ? 1 : 3;
  if (LongTests()) {
    first = NumberFromEnvironment("BLOCKSIEVE_RANGE_SEED", 1000);
    seeds = NumberFromEnvironment("BLOCKSIEVE_RANGE_OPERATIONS", 100'000'000) / std::size(kKinds) /
            kOperationsOfSeed;
  }
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  const uint64_t ranges_before = GetRangeFilterCounts().no;
  const uint64_t lookups_before = rocksdb::get_perf_context()->bloom_sst_miss_count;
  ModelCounts counts;
  for (uint64_t seed = first; seed < first + seeds && !HasFailure(); ++seed) {
    RunModel(kind, seed, &counts);
  }
  const uint64_t ranges = GetRangeFilterCounts().no - ranges_before;
  const uint64_t lookups = rocksdb::get_perf_context()->bloom_sst_miss_count - lookups_before;
  std::cout << "  " << counts.operations << " operations, " << counts.seeks << " seeks, " << ranges
            << " ranges and " << lookups << " lookups denied\n";
  // The number of files that can answer "no" depends on background compactions and threads.
  if (kind.is_repeatable) {
    EXPECT_GT(ranges, counts.seeks / 4);
    EXPECT_GT(lookups, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DatabaseModelTest, ::testing::ValuesIn(kKinds), ParamNames());

}  // namespace
}  // namespace blocksieve
