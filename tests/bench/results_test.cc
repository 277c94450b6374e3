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
  results.In("Sizes", "Filter")["ours"].Add("size", "bytes", 12, NotAbove(10));
  results.In("\xFF")["line"].Add("probe", "ns", std::vector{1.0, 2.0, 3.0});
  results.In("Sizes")["theirs"].Add("size", "", std::numeric_limits<double>::infinity());
  results.In("Sizes")["ours"].Add("build", "ns", std::vector{4.0}, NotBelow(1));
  const Json file = Json::parse(results.Text(1.5));
  EXPECT_EQ(file["seconds"], 1.5);
  EXPECT_EQ(file["tables"][0]["head"], "Filter");
  EXPECT_EQ(file["tables"][0]["lines"].dump(),
            R"([{"name":"ours","cells":[{"column":"size","unit":"bytes","value":12.0,)"
            R"("at_most":10.0},{"column":"build","unit":"ns","value":4.0,"turns":1,)"
            R"("at_least":1.0}]},)"
            R"({"name":"theirs","cells":[{"column":"size","unit":"","value":null}]}])");
  // Names may be any bytes; JSON is UTF-8.
  EXPECT_EQ(file["tables"][1]["caption"], "\xEF\xBF\xBD");
  const Json& probe = file["tables"][1]["lines"][0]["cells"][0];
  EXPECT_EQ(probe["spread"], Json({1.0, 3.0}));
  EXPECT_EQ(probe["turns"], 3);
}

TEST(SpreadTest, IsTheQuartilesOrForFewTurnsTheExtremes) {
  const auto expect = [](const Spread& spread, double low, double median, double high) {
    EXPECT_EQ(spread.low, low);
    EXPECT_EQ(spread.median, median);
    EXPECT_EQ(spread.high, high);
  };
  expect(SpreadOf({5, 1, 2, 3, 4}), 2, 3, 4);
  expect(SpreadOf({5, 1, 2}), 1, 2, 5);
  expect(SpreadOf({7}), 7, 7, 7);
  // Twice as much in every turn, although turns differ.
  expect(PairedRatio({2, 20, 200}, {1, 10, 100}), 2, 2, 2);
  expect(Quotient({4, 2, 6, 9}, {2, 1, 4, 3}), 0.5, 2, 6);
}

TEST(OwnProcessTest, HasItsOwnMemoryAndFailsWithTheWork) {
  EXPECT_THROW(InOwnProcess("work", []() -> double { throw std::runtime_error("no"); }), Failure);
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
  const char* const argv[] = {"job",   "--rows", "5000",  "--seed",          "7",
                              "--fpr", "0.001",  "--out", dir.path().c_str()};
  const JobManual manual = {.benchmark = "job",
                            .description = "Measures.",
                            .quick_help = "less",
                            .rows_help = "this many rows",
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
  EXPECT_EQ(Json::parse(file)["tables"].size(), 1U);
}

}  // namespace
}  // namespace blocksieve::bench
