// The main job's own parts: what it reads, which keys it looks up, how it counts and what it says.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/read_amp/contestants.h"
#include "bench/read_amp/counters.h"
#include "bench/read_amp/engine.h"
#include "bench/read_amp/experiment.h"
#include "bench/read_amp/json_report.h"
#include "bench/read_amp/options.h"
#include "bench/read_amp/sentence.h"
#include "bench/support/failure.h"
#include "bench/support/inputs.h"
#include "bench/support/lookup_keys.h"
#include "bench/support/median.h"
#include "bench/support/progress.h"
#include "bench/support/run_main.h"
#include "bench/support/temp_dir.h"
#include "bench/support/text_table.h"

namespace blocksieve::bench::read_amp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <class Function>
std::string FailureOf(Function function) {
  try {
    function();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

std::string ManyLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("key{:06}\tvalue{}\n", 2 * i, i);
  return text;
}

Input Parse(const std::string& text, const InputLimits& limits = {}) {
  std::istringstream stream(text);
  return ParseTsv(stream, "test.tsv", limits);
}

std::filesystem::path TestDir() { return ::testing::TempDir(); }

TEST(RowsTest, SortsAndKeepsTheFirstOfEveryKey) {
  Rows rows;
  rows.Add("b", "1");
  rows.Add("a", "2");
  rows.Add("b", "3");
  rows.Add("", "4");
  EXPECT_EQ(rows.Seal(), 1U);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.key(0), "");
  EXPECT_EQ(rows.key(1), "a");
  EXPECT_EQ(rows.value(2), "1");
  EXPECT_EQ(rows.num_bytes(), 0U + 1 + 1 + 1 + 1 + 1);
  EXPECT_TRUE(rows.Contains("b"));
  EXPECT_FALSE(rows.Contains("aa"));
  EXPECT_FALSE(rows.Contains("c"));
}

TEST(InputsTest, TsvValuesMayHoldTabsAndBeEmpty) {
  const Input input = Parse("a\tx\ty\nb\t\n" + ManyLines(kMinRows));
  EXPECT_EQ(input.rows.value(0), "x\ty");
  EXPECT_EQ(input.rows.value(1), "");
  EXPECT_EQ(input.rows.size(), kMinRows + 2);
}

TEST(InputsTest, TsvErrorsNameFileLineAndWhatIsWanted) {
  EXPECT_EQ(FailureOf([] { Parse("a\tb\nc\n"); }),
            "test.tsv, line 2: no tab; wanted is: key TAB value");
  EXPECT_EQ(FailureOf([] { Parse("\tb\n"); }),
            "test.tsv, line 1: empty key; wanted is: key TAB value");
  EXPECT_EQ(FailureOf([] { Parse(ManyLines(5)); }),
            "test.tsv holds 5 different keys; allowed are 1000 to 1000000000");
  EXPECT_THAT(FailureOf([] { LoadTsv("/no/such/file", {}); }), HasSubstr("/no/such/file"));
}

TEST(InputsTest, LimitsCutTheInputAndTheDescriptionSaysSo) {
  const Input by_rows = Parse(ManyLines(3000), {.max_rows = 2000});
  EXPECT_EQ(by_rows.rows.size(), 2000U);
  EXPECT_THAT(by_rows.description, HasSubstr("the rest was not read"));
  const Input by_bytes = Parse(ManyLines(3000), {.max_bytes = 30'000});
  EXPECT_LE(by_bytes.rows.num_bytes(), 30'000U);
  EXPECT_THAT(by_bytes.description, HasSubstr("the rest was not read"));
  EXPECT_THAT(Parse(ManyLines(3000), {.max_rows = 3000}).description, Not(HasSubstr("not read")));
}

TEST(InputsTest, DpkgListsBecomePathToFirstPackage) {
  const TempDir dir(TestDir());
  std::ofstream(dir.path() / "zlib1g:amd64.list") << "/.\n/usr\n/usr/lib/libz.so\n";
  std::ofstream(dir.path() / "base.list") << "/.\n/usr\n"
                                          << [] {
                                               std::string text;
                                               for (size_t i = 0; i < kMinRows; ++i)
                                                 text += fmt::format("/usr/share/{}\n", i);
                                               return text;
                                             }();
  std::ofstream(dir.path() / "base.md5sums") << "not a list\n";
  const Input input = LoadDpkg(dir.path(), {});
  EXPECT_EQ(input.rows.size(), kMinRows + 3);
  for (size_t i = 0; i < input.rows.size(); ++i) {
    EXPECT_EQ(input.rows.value(i), input.rows.key(i) == "/usr/lib/libz.so" ? "zlib1g" : "base");
  }
  EXPECT_THAT(input.description, HasSubstr("2 further owners of a path left out"));
  EXPECT_THAT(FailureOf([] { LoadDpkg("/no/such/dir", {}); }), HasSubstr("use --input or --rows"));
}

TEST(InputsTest, SyntheticRowsDependOnTheSeedAlone) {
  const Input a = MakeSynthetic(2000, 7, 1, {});
  const Input b = MakeSynthetic(2000, 7, 1, {});
  const Input c = MakeSynthetic(2000, 7, 2, {});
  ASSERT_EQ(a.rows.size(), 2000U);
  EXPECT_EQ(a.rows.key(0).size(), 16U);
  EXPECT_EQ(a.rows.value(0).size(), 7U);
  EXPECT_EQ(a.rows.key(999), b.rows.key(999));
  EXPECT_EQ(a.rows.value(999), b.rows.value(999));
  EXPECT_NE(a.rows.key(999), c.rows.key(999));
}

TEST(LookupKeysTest, AbsentKeysAreAbsentAmongThePresentAndOfTheirLengths) {
  const Input input = Parse(ManyLines(2000));
  const LookupKeys keys = DrawLookupKeys(input.rows, 5000, 1);
  ASSERT_EQ(keys.absent.size(), 5000U);
  ASSERT_EQ(keys.present.size(), 5000U);
  for (const std::string& key : keys.absent) {
    EXPECT_FALSE(input.rows.Contains(key)) << key;
    EXPECT_EQ(key.size(), 9U);
    EXPECT_THAT(key, StartsWith("key0"));
    EXPECT_LT(input.rows.key(0), key);
    EXPECT_GT(input.rows.key(input.rows.size() - 1), key);
  }
  for (const uint32_t row : keys.present) EXPECT_LT(row, input.rows.size());
}

TEST(LookupKeysTest, FailsInsteadOfSearchingForeverWhenEveryKeyIsTaken) {
  Rows rows;
  for (int i = 0; i < 1000; ++i) rows.Add(fmt::format("{:03}", i), "");
  rows.Seal();
  EXPECT_THAT(FailureOf([&] { DrawLookupKeys(rows, 10, 1); }), HasSubstr("too dense"));
}

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
  EXPECT_THAT(FailureOf([] {
                MakePolicy({Role::kBlocksieve, "mine", "nosuchpolicy:1"});
              }),
              StartsWith("mine: "));
  EXPECT_THAT(FailureOf([] {
                MakePolicy({Role::kBlocksieve, "mine", "{id=blocksieve;target_fpr=2}"});
              }),
              StartsWith("mine: "));
}

// 9.9 bits are RocksDB's own advice for 1 % (filter_policy.h), by its estimate.
TEST(ContestantsTest, RibbonBitsForOnePercent) {
  EXPECT_NEAR(StockRibbonBitsPerKey(0.01), 9.9, 0.1);
}

TEST(TextTableTest, AlignsUnderHeadersOfSeveralLines) {
  TextTable table({"", "size\nKiB", "n"});
  table.AddRow({"a name", "1.0", "12"});
  EXPECT_EQ(table.ToString(),
            "        size\n"
            "         KiB   n\n"
            "----------------\n"
            "a name   1.0  12\n");
}

// Contestants that differ in what the sentence speaks of.
Results MakeResults(uint64_t our_blocks, uint64_t our_bytes) {
  Results results;
  results.num_rows = 8000;
  const auto add = [&](Role role, std::string name, uint64_t blocks, uint64_t bytes, double rate) {
    ContestantResult& each = results.contestants.emplace_back();
    each.contestant = {role, std::move(name), ""};
    each.leveled.shape.filter_bytes = bytes;
    each.leveled.cold_absent.counters.lookups = 1000;
    each.leveled.cold_absent.counters.data_blocks_read = blocks;
    each.leveled.cold_absent.lookups_per_second = {rate};
  };
  add(Role::kNoFilter, "no filter", 6000, 0, 100);
  add(Role::kStockBloomSameFpr, "bloom", 60, 10'000, 5000);
  add(Role::kStockRibbonSameFpr, "ribbon", 60, 8'000, 5000);
  add(Role::kBlocksieve, "large", our_blocks, our_bytes + 1, 1);
  add(Role::kBlocksieve, "ours", our_blocks, our_bytes, 5000);
  return results;
}

TEST(SentenceTest, SaysWhatWasSavedAtWhichPrice) {
  EXPECT_EQ(
      SavedSentence(MakeResults(60, 9'000)),
      "Saved: 99.0 % of the reads: a lookup of an absent key read 0.06 data blocks with ours "
      "and 6 without a filter, which made such lookups 50 times as fast on a cold cache, "
      "for 9.00 filter bits per key, 10.0 % fewer than stock Bloom and 12.5 % more than stock "
      "Ribbon set up for the same rate.");
}

TEST(SentenceTest, SaysThatNothingWasSaved) {
  EXPECT_THAT(SavedSentence(MakeResults(6000, 9'000)), StartsWith("Nothing was saved: "));
  EXPECT_THAT(SavedSentence(MakeResults(6001, 9'000)), StartsWith("Nothing was saved: "));
}

TEST(SentenceTest, ComparesInWords) {
  EXPECT_EQ(FewerOrMore(100, 100), "as many as");
  EXPECT_EQ(FewerOrMore(100.04, 100), "as many as");
  EXPECT_EQ(FewerOrMore(99, 100), "1.0 % fewer than");
  EXPECT_EQ(FewerOrMore(150, 100), "50.0 % more than");
}

TEST(ResultsTest, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 100}), 3);
}

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

// What the run's "all keys were found" rests on.
TEST(EngineTest, AMissingRowAndAnUnexpectedRowAreFailures) {
  const TempDir dir(TestDir());
  const Input input = Parse(ManyLines(kMinRows));
  std::vector<uint32_t> all_but_row_7(kMinRows);
  std::iota(all_but_row_7.begin(), all_but_row_7.end(), 0U);
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
  const TempDir dir(TestDir());
  const Input input = Parse(ManyLines(kMinRows));
  std::vector<uint32_t> order(kMinRows);
  std::iota(order.begin(), order.end(), 0U);
  const Contestant none = {Role::kNoFilter, "none", ""};
  Engine(none, input.rows, dir.path() / "db", /*direct_reads=*/false).Fill(order);
  EXPECT_THAT(FailureOf([&] {
                Engine(none, input.rows, dir.path() / "db", /*direct_reads=*/false).Fill(order);
              }),
              HasSubstr("none: RocksDB failed to open"));
}

// The whole job on a small input: the figures must fit together.
TEST(ExperimentTest, FiguresFitTogether) {
  const TempDir dir(TestDir());
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
  EXPECT_THAT(SavedSentence(results), StartsWith("Saved: "));
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));

  const std::filesystem::path json = WriteJson(results, dir.path() / "new" / "dir");
  EXPECT_EQ(json.filename(), "results.json");
  EXPECT_GT(std::filesystem::file_size(json), 1000U);
}

}  // namespace
}  // namespace blocksieve::bench::read_amp
