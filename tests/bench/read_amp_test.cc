// The parts of bench/run read_amp: counters, contestants and databases.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/read_amp/contestants.h"
#include "bench/read_amp/lookup_database.h"
#include "bench/support/counters.h"
#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/terminal.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::read_amp {
namespace {

using ::testing::HasSubstr;

TEST(ContestantsTest, CanBeMadeAtEveryTargetAndUnknownPoliciesAreErrors) {
  for (const double target_fpr : {0.5, 1e-6}) MakeContestants(target_fpr);
  for (const char* policy : {"nosuchpolicy:1", "{id=blocksieve;target_fpr=2}"}) {
    EXPECT_THAT(FailureOf([&] { PolicyFromString(policy); }), HasSubstr(policy));
  }
  EXPECT_NEAR(StockRibbonBitsPerKey(0.01), 9.9, 0.1);  // RocksDB's own advice (filter_policy.h)
}

TEST(LookupDatabaseTest, AMissingRowAndAnUnexpectedRowAreFailures) {
  const TempDir dir(::testing::TempDir());
  const Input input = ParseText(ManyLines(kMinRows));
  std::vector<uint32_t> all_but_row_7 = KeyOrder(kMinRows);
  all_but_row_7[7] = 8;
  LookupDatabase database(WithPolicy("stock_default", "stock", "bloomfilter:10:false"), input.rows,
                          dir.path());
  database.Fill(all_but_row_7);
  database.Open(Reads::kCached);
  EXPECT_EQ(FailureOf([&] { database.VerifyAllRows(); }),
            "stock: key \"key000014\" was written but Get says: NotFound: ");
  const auto failure = [&](Keys kind, const LookupKeys& keys) {
    return FailureOf([&] { database.LookUp(keys, kind, 1, nullptr); });
  };
  EXPECT_THAT(failure(Keys::kPresent, {.present = {6, 7}, .absent = {}}), HasSubstr("key000014"));
  EXPECT_THAT(failure(Keys::kAbsent, {.present = {}, .absent = {"key000016"}}),
              HasSubstr("was never written but Get says: OK"));
  Counters counters;
  const LookupKeys present = {.present = {6, 6, 8}, .absent = {}};
  EXPECT_EQ(database.LookUp(present, Keys::kPresent, 1, &counters).lookups, 3U);
  EXPECT_EQ(counters.found, 3U);
}

// The whole job on a small input: the figures must fit together.
TEST(ReadAmpTest, FiguresFitTogether) {
  const Input input = MakeSynthetic(20'000, 1, UINT64_MAX);
  const Effort effort = {.rounds = 2,
                         .lookups = 5'000,
                         .max_cold_seconds = 0.05,
                         .timed_warm_passes = 1,
                         .no_new_round_after = 0};
  TestJob test;
  RunExperiment(input, 0.05, effort, test.job);
  const std::string sizes = "Sizes and data blocks per lookup";
  for (const LookupContestant& contestant : MakeContestants(0.05)) {
    const std::string& name = contestant.name;
    EXPECT_EQ(test.Cell("Lookups per second", name, "absent keys: cold")["turns"], 2);
    if (contestant.role == "no_filter") {
      EXPECT_EQ(test.Value(sizes, name, "filter size"), 0);
      // Four files of level 0 and one of every level below.
      test.ExpectWithin(sizes, name, "absent keys: cached", 5.5, 6.1);
      continue;
    }
    const double target = contestant.role == "stock_default" ? 0.0097
                          : contestant.role == "same_memory" ? 0.00106
                                                             : 0.05;
    // Filters of the few hundred keys of a level-0 file round up to whole lines: a lower FPR. Time
    // decides how many lookups repeat keys of the round before: at least 30,000 probes differ.
    test.ExpectWithin(sizes, name, "measured FPR", target / 2,
                      target + 6 * std::sqrt(target / 30'000));
    test.ExpectWithin(sizes, name, "absent keys: cached", 0, 6 * target * 1.3);
  }
  const std::string savings = "Savings", ours = "blocksieve ribbon, 5 %";
  test.ExpectWithin(savings, ours, "size, relative to stock Bloom", 0.5, 0.9);
  test.ExpectWithin(savings, ours, "reads saved", 0.9, 1);
}

}  // namespace
}  // namespace blocksieve::bench::read_amp
