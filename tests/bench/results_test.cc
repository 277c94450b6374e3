#include "bench/support/results.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <vector>

#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

TEST(ResultsTest, TablesHaveLinesAndCellsInTheOrderOfTheirAddition) {
  Results results("job");
  results.headline = "faster";
  results.In("Sizes", "Filter")["ours"].Add("size", "bytes", 12, NotAbove(10));
  results.In("Times")["ours"].Add("probe", "ns", std::vector{1.0, 2.0, 3.0});
  results.In("Sizes")["theirs"].Add("size", "bytes", 20);
  results.In("Sizes")["ours"].Add("build", "ns", std::vector{4.0}, NotBelow(1));
  const Json file = Json::parse(results.Text(1.5));
  EXPECT_EQ(file["benchmark"], "job");
  EXPECT_EQ(file["headline"], "faster");
  EXPECT_EQ(file["seconds"], 1.5);
  const Json& sizes = file["tables"][0];
  EXPECT_EQ(sizes["caption"], "Sizes");
  EXPECT_EQ(sizes["head"], "Filter");
  EXPECT_EQ(sizes["lines"].dump(),
            R"([{"name":"ours","cells":[{"column":"size","unit":"bytes","value":12.0,)"
            R"("at_most":10.0},{"column":"build","unit":"ns","value":4.0,"turns":1,)"
            R"("at_least":1.0}]},)"
            R"({"name":"theirs","cells":[{"column":"size","unit":"bytes","value":20.0}]}])");
  const Json& probe = file["tables"][1]["lines"][0]["cells"][0];
  EXPECT_EQ(probe["spread"], Json({1.0, 3.0}));
  EXPECT_EQ(probe["turns"], 3);
}

TEST(ResultsTest, ValuesThatJsonCannotHoldAreMissingOrReplaced) {
  Results results("job");
  results.In("\xFF")["line"].Add("rate", "", std::numeric_limits<double>::infinity());
  const Json table = Json::parse(results.Text(0))["tables"][0];
  EXPECT_EQ(table["caption"], "\xEF\xBF\xBD");
  EXPECT_TRUE(table["lines"][0]["cells"][0]["value"].is_null());
}

TEST(SpreadTest, IsTheQuartilesOrForFewTurnsTheExtremes) {
  const Spread many = SpreadOf({5, 1, 2, 3, 4});
  EXPECT_EQ(many.median, 3);
  EXPECT_EQ(many.low, 2);
  EXPECT_EQ(many.high, 4);
  EXPECT_EQ(many.turns, 5U);
  const Spread few = SpreadOf({5, 1, 2});
  EXPECT_EQ(few.median, 2);
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 5);
  EXPECT_EQ(SpreadOf({4, 1, 2, 100}).median, 3);
  const Spread one = SpreadOf({7});
  EXPECT_EQ(one.low, 7);
  EXPECT_EQ(one.high, 7);
}

TEST(SpreadTest, RatiosHaveTheSpreadOfTheirParts) {
  // Twice as much in every turn, although turns differ.
  const Spread paired = PairedRatio({2, 20, 200}, {1, 10, 100});
  EXPECT_EQ(paired.low, 2);
  EXPECT_EQ(paired.high, 2);
  const Spread ratio = Quotient({4, 2, 6, 9}, {2, 1, 4, 3});
  EXPECT_EQ(ratio.median, 2);
  EXPECT_EQ(ratio.low, 0.5);
  EXPECT_EQ(ratio.high, 6);
  EXPECT_EQ(ratio.turns, 3U);
}

TEST(OwnProcessTest, ReturnsTheResultAndFailsWithTheWork) {
  EXPECT_EQ(InOwnProcess("work", [] { return 42; }), 42);
  EXPECT_THROW(InOwnProcess("work", []() -> double { throw std::runtime_error("no"); }), Failure);
}

TEST(OwnProcessTest, MemoryOfTheChildIsItsOwn) {
  const double grown = InOwnProcess("work", [] {
    const uint64_t before = ResidentBytes();
    const std::vector<char> memory(64 << 20, 'x');
    const volatile char& last = memory.back();  // keeps the compiler from removing it
    return static_cast<double>(PeakResidentBytes() - before + (last == 'y' ? 1 : 0));
  });
  EXPECT_GE(grown, 64 << 20);
  EXPECT_LT(grown, 80 << 20);
}

TEST(RunJobTest, PassesOptionsAndWritesResults) {
  const TempDir dir(::testing::TempDir());
  const char* const argv[] = {"job", "--quick", "--rows", "5000",  "--seed",
                              "7",   "--fpr",   "0.001",  "--out", dir.path().c_str()};
  const JobManual manual = {.benchmark = "job",
                            .description = "Measures.",
                            .quick_help = "less",
                            .rows_help = "this many rows",
                            .min_rows = kMinRows,
                            .takes_fpr = true};
  std::filesystem::path db_dir;
  const auto measure = [&](Job& job) {
    EXPECT_EQ(job.options.rows, 5000U);
    EXPECT_EQ(job.options.seed, 7U);
    EXPECT_EQ(job.options.target_fpr, 0.001);
    db_dir = job.db_dir;
    EXPECT_TRUE(std::filesystem::is_empty(db_dir));
    job.results.In("table")["line"].Add("column", "", 1);
  };
  EXPECT_EQ(RunJob(manual, static_cast<int>(std::size(argv)), argv, measure), 0);
  EXPECT_FALSE(std::filesystem::exists(db_dir));
  std::ifstream file(dir.path() / "job.json");
  const Json json = Json::parse(file);
  EXPECT_EQ(json["tables"].size(), 1U);
  EXPECT_GE(json["seconds"], 0);
}

}  // namespace
}  // namespace blocksieve::bench
