#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>

#include <cinttypes>
#include <cstdio>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "tests/rocksdb/model/model_run.h"
#include "tests/support/environment.h"
#include "tests/support/sanitizers.h"

// Compares databases with filters with a map, and with iterators that use no filter: all answers
// must be equal. BLOCKSIEVE_LONG_TESTS runs BLOCKSIEVE_RANGE_OPERATIONS operations, all kinds
// together, with seeds from BLOCKSIEVE_RANGE_SEED on.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

const ModelKind kKinds[] = {
    {.name = "Bounds"},
    {.name = "PlainReads", .filters = RangeFilters::Ours(true), .plain_reads = true},
    {.name = "Timestamps", .timestamps = true},
    {.name = "Threads", .reads_in_threads = true},
    {.name = "Prefixes", .has_prefixes = true},
    {.name = "Points", .points_only = true},
    {.name = "Repeatable", .is_repeatable = true},
};

class DatabaseModel : public ::testing::TestWithParam<ModelKind> {};

TEST_P(DatabaseModel, FindsEveryRow) {
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
  ModelReport report;
  for (uint64_t seed = first; seed < first + seeds && report.num_wrong == 0; ++seed) {
    RunModel(kind, seed, kOperationsOfSeed, &report);
  }
  EXPECT_EQ(report.num_wrong, 0u) << report.first_wrong;
  const uint64_t ranges = GetRangeFilterCounts().no - ranges_before;
  const uint64_t lookups = rocksdb::get_perf_context()->bloom_sst_miss_count - lookups_before;
  std::printf("  %" PRIu64 " operations, %" PRIu64 " seeks, %" PRIu64 " ranges and %" PRIu64
              " lookups denied, %" PRIu64 " wrong\n",
              report.operations, report.seeks, ranges, lookups, report.num_wrong);
  // The number of files that can answer "no" depends on background compactions and threads.
  if (kind.is_repeatable) {
    EXPECT_GT(ranges, report.seeks / 4);
    EXPECT_GT(lookups, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, DatabaseModel, ::testing::ValuesIn(kKinds), ParamNames());

/// A faulty policy: answers "no" to one range in a hundred, whatever it holds.
class DenyingPolicy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return "blocksieve.test.denying"; }
  const char* CompatibilityName() const override { return ours_->CompatibilityName(); }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return ours_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return new Reader(ours_->GetFilterBitsReader(contents));
  }

 private:
  class Reader final : public rocksdb::FilterBitsReader {
   public:
    explicit Reader(rocksdb::FilterBitsReader* ours) : ours_(ours) {}
    bool MayMatch(const rocksdb::Slice& entry) override {
      const bool is_denied = entry.empty() && ++num_ranges_ % 100 == 0;
      return ours_->MayMatch(entry) && !is_denied;
    }
    void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
      ours_->MayMatch(num_keys, keys, may_match);
    }

   private:
    const std::unique_ptr<rocksdb::FilterBitsReader> ours_;
    uint64_t num_ranges_ = 0;
  };

  const std::shared_ptr<const rocksdb::FilterPolicy> ours_ = RangeFilters::Ours().policy;
};

TEST(DatabaseModelItself, NoticesWronglyDeniedRanges) {
  ModelKind kind{.name = "denying", .is_repeatable = true};
  kind.filters.policy = std::make_shared<DenyingPolicy>();
  ModelReport report;
  RunModel(kind, 1, kOperationsOfSeed, &report);
  EXPECT_GT(report.num_wrong, 0u);
}

}  // namespace
}  // namespace blocksieve
