// The main job's own parts: how it counts and what it compares.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/read_amp/contestants.h"
#include "bench/read_amp/counters.h"
#include "bench/read_amp/engine.h"
#include "bench/read_amp/experiment.h"
#include "bench/read_amp/options.h"
#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/terminal.h"
#include "tests/bench/bench_test.h"

namespace blocksieve::bench::read_amp {
namespace {

using ::testing::HasSubstr;

// FPR = FP / (FP + TN), not FP / lookups and not FP / positives.
TEST(CountersTest, KnownRates) {
  Counters counters;
  counters.lookups = 50;
  counters.found = 40;
  counters.filter_positives = 45;
  counters.filter_true_positives = 40;
  counters.filter_negatives = 95;
  counters.data_blocks_read = 10;
  counters.data_blocks_cached = 36;
  EXPECT_EQ(counters.false_positives(), 5U);
  EXPECT_EQ(counters.absent_probes(), 100U);
  EXPECT_DOUBLE_EQ(counters.fpr(), 0.05);
  EXPECT_EQ(counters.wasted_data_blocks(), 6U);
  Counters sum = counters;
  sum += counters;
  EXPECT_EQ(sum.lookups, 100U);
  EXPECT_DOUBLE_EQ(sum.fpr(), 0.05);
}

TEST(ContestantsTest, EveryPolicyCanBeMadeAtEveryTarget) {
  for (const double target_fpr : {0.5, 0.1, 0.01, 1e-4, 1e-6}) {
    for (const Contestant& contestant : MakeContestants(target_fpr)) {
      const auto policy = MakePolicy(contestant);
      EXPECT_EQ(policy == nullptr, contestant.role == Role::kNoFilter) << contestant.name;
    }
  }
}

TEST(ContestantsTest, UnknownPolicyIsAnErrorAndNotNoFilter) {
  for (const char* policy : {"nosuchpolicy:1", "{id=blocksieve;target_fpr=2}"}) {
    EXPECT_THAT(FailureOf([&] { PolicyFromString(policy); }), HasSubstr(policy));
  }
}

// 9.9 bits are RocksDB's own advice for 1 % (filter_policy.h), by its estimate.
TEST(ContestantsTest, RibbonBitsForOnePercent) {
  EXPECT_NEAR(StockRibbonBitsPerKey(0.01), 9.9, 0.1);
}

// What the run's "all keys were found" rests on.
TEST(EngineTest, AMissingRowAndAnUnexpectedRowAreFailures) {
  const TempDir dir(::testing::TempDir());
  const Input input = ParseText(ManyLines(kMinRows));
  std::vector<uint32_t> all_but_row_7 = KeyOrder(kMinRows);
  all_but_row_7[7] = 8;
  Engine engine({Role::kStockDefault, "stock", "bloomfilter:10:false"}, input.rows,
                dir.path() / "db", /*direct_reads=*/false);
  engine.Fill(all_but_row_7);
  engine.Open(Temperature::kWarm);
  EXPECT_EQ(FailureOf([&] { engine.VerifyAllRows(); }),
            "stock: key \"key000014\" was written but Get says: NotFound: ");
  EXPECT_THAT(FailureOf([&] {
                engine.LookUpPresent({.present = {6, 7}, .absent = {}}, 1, nullptr);
              }),
              HasSubstr("key000014"));
  EXPECT_THAT(
      FailureOf([&] { engine.LookUpAbsent({.present = {}, .absent = {"key000016"}}, 1, nullptr); }),
      HasSubstr("was never written but Get says: OK"));
  Counters counters;
  EXPECT_EQ(engine.LookUpPresent({.present = {6, 6, 8}, .absent = {}}, 1, &counters).lookups, 3U);
  EXPECT_EQ(counters.found, 3U);
}

TEST(EngineTest, AnExistingDatabaseIsNotTouched) {
  const TempDir dir(::testing::TempDir());
  const Input input = ParseText(ManyLines(kMinRows));
  const std::vector<uint32_t> order = KeyOrder(kMinRows);
  const Contestant none = {Role::kNoFilter, "none", ""};
  Engine(none, input.rows, dir.path() / "db", /*direct_reads=*/false).Fill(order);
  EXPECT_THAT(FailureOf([&] {
                Engine(none, input.rows, dir.path() / "db", /*direct_reads=*/false).Fill(order);
              }),
              HasSubstr("none: RocksDB failed to open"));
}

// The whole job on a small input: the figures must fit together.
TEST(ExperimentTest, FiguresFitTogether) {
  const TempDir dir(::testing::TempDir());
  const Input input = MakeSynthetic(20'000, 50, 1, {});
  Progress progress;
  const Effort effort = {.rounds = 2,
                         .lookups = 5'000,
                         .max_cold_seconds = 0.05,
                         .timed_warm_passes = 1,
                         .no_new_round_after = 0};
  const Results results = RunExperiment(input, 0.05, 1, effort, dir.path(), progress);

  EXPECT_EQ(results.rounds, 2U);
  ASSERT_GE(results.contestants.size(), 5U);
  for (const ContestantResult& each : results.contestants) {
    SCOPED_TRACE(each.contestant.name);
    EXPECT_EQ(each.fill_seconds.size(), 2U);
    ASSERT_EQ(each.leveled.shape.levels.size(), 3U);
    EXPECT_EQ(each.leveled.shape.levels[0].num_files, 4U);
    ASSERT_EQ(each.compacted.shape.levels.size(), 1U);
    EXPECT_EQ(each.compacted.shape.num_entries, 20'000U);
    EXPECT_EQ(each.leveled.warm_present.counters.found, 10'000U);
    EXPECT_EQ(each.leveled.warm_absent.counters.found, 0U);
    EXPECT_EQ(each.leveled.warm_absent.counters.data_blocks_read, 0U);
    EXPECT_EQ(each.leveled.cold_absent.counters.data_blocks_cached, 0U);

    const Counters& counters = each.leveled.warm_absent.counters;
    const double blocks = static_cast<double>(counters.data_blocks()) / 10'000;
    if (each.contestant.role == Role::kNoFilter) {
      EXPECT_EQ(each.leveled.shape.filter_bytes, 0U);
      EXPECT_EQ(counters.absent_probes(), 0U);
      EXPECT_GT(blocks, 5.5);  // four files of level 0 and one of every level below
    } else {
      const double target = each.contestant.role == Role::kStockDefault           ? 0.0097
                            : each.contestant.role == Role::kBlocksieveSameMemory ? 0.00106
                                                                                  : 0.05;
      // Filters of the few hundred keys of a level-0 file round up to whole lines: a lower rate.
      EXPECT_GT(counters.fpr(), target / 2);
      EXPECT_LT(counters.fpr(), target * 1.1);
      const Counters& compacted = each.compacted.warm_absent.counters;
      const double sigma = std::sqrt(target / static_cast<double>(compacted.absent_probes()));
      EXPECT_NEAR(compacted.fpr(), target, 4 * sigma);
      EXPECT_LT(blocks, 6 * target * 1.3);
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));

  WriteJson(results, dir.path() / "new" / "dir");
  EXPECT_GT(std::filesystem::file_size(dir.path() / "new" / "dir" / "results.json"), 1000U);
}

// The command line.

RunOptions ParseArguments(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv = {"read_amp"};
  argv.insert(argv.end(), arguments);
  return ParseCommandLine(static_cast<int>(argv.size()), argv.data());
}

// Exit code and what was printed to stderr.
std::pair<int, std::string> Refusal(std::initializer_list<const char*> arguments) {
  ::testing::internal::CaptureStderr();
  int code = -1;
  try {
    ParseArguments(arguments);
  } catch (const Exit& exit) {
    code = exit.code;
  }
  return {code, ::testing::internal::GetCapturedStderr()};
}

TEST(OptionsTest, WrongArgumentsNameThingValueAndRange) {
  for (const auto& [argument, value, range] :
       {std::tuple{"--fpr", "2", "1e-07 to 0.5"}, std::tuple{"--fpr", "nan", "1e-07 to 0.5"},
        std::tuple{"--fpr", "x", "1e-07 to 0.5"}, std::tuple{"--rows", "999", "1000 to 1000000000"},
        std::tuple{"--rows", "-5", "1000 to 1000000000"},
        std::tuple{"--rows", "1e6", "1000 to 1000000000"},
        std::tuple{"--seed", "-1", "0 to 4294967295"}, std::tuple{"--repeat", "0", "1 to 1000"},
        std::tuple{"--lookups", "1", "1000 to 100000000"}}) {
    const auto [code, message] = Refusal({argument, value});
    EXPECT_EQ(code, 2) << argument << ' ' << value;
    EXPECT_THAT(message, HasSubstr(argument));
    EXPECT_THAT(message, HasSubstr(value));
    EXPECT_THAT(message, HasSubstr(range));
  }
  const auto [code, message] = Refusal({"--rows", "1000", "--value-bytes", "32769"});
  EXPECT_EQ(code, 2);
  EXPECT_THAT(message, HasSubstr("--value-bytes"));
  EXPECT_THAT(message, HasSubstr("32769"));
  EXPECT_THAT(message, HasSubstr("0 to 32768"));
}

TEST(OptionsTest, ContradictoryOrUnknownArgumentsAreRefused) {
  EXPECT_EQ(Refusal({"--rows", "1000", "--input", "-"}).first, 2);
  EXPECT_EQ(Refusal({"--value-bytes", "10"}).first, 2);
  EXPECT_EQ(Refusal({"--quick", "--lookups", "1000"}).first, 2);
  EXPECT_EQ(Refusal({"--input", "/no/such/file"}).first, 2);
  EXPECT_EQ(Refusal({"--nonsense"}).first, 2);
  EXPECT_EQ(Refusal({"stray"}).first, 2);
}

TEST(OptionsTest, HelpIsNotAnError) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Refusal({"--help"}).first, 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("Examples:"));
}

TEST(OptionsTest, ValuesArrive) {
  const RunOptions options =
      ParseArguments({"--rows", "5000", "--value-bytes", "0", "--seed", "7", "--fpr", "0.001",
                      "--repeat", "2", "--lookups", "2000", "--out", "o", "--db-dir", "d"});
  EXPECT_EQ(options.rows, 5000U);
  EXPECT_EQ(options.value_bytes, 0U);
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.target_fpr, 0.001);
  EXPECT_EQ(options.repeat, 2U);
  EXPECT_EQ(options.lookups, 2000U);
  EXPECT_EQ(options.out, "o");
  EXPECT_EQ(options.db_dir, "d");
}

}  // namespace
}  // namespace blocksieve::bench::read_amp
