// The command line of jobs.

#include "bench/support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/support/files.h"
#include "bench/support/inputs.h"

namespace blocksieve::bench {
namespace {

using ::testing::HasSubstr;

const JobManual kManual = {
    .name = "bench/run",
    .description = "Measures.",
    .quick_help = "less",
    .files = "job.json",
    .examples = "Examples: none",
    .rows_help = "this many rows",
    .min_rows = kMinRows,
    .has_one_source = true,
};

struct Parsed {
  JobOptions options;
  double fpr = 0.01;
  uint64_t rounds = 5;
};

Parsed Parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv = {"job"};
  argv.insert(argv.end(), arguments);
  Parsed parsed;
  parsed.options = ParseJobOptions(kManual, static_cast<int>(argv.size()), argv.data(),
                                   {{"--fpr", "P", "rate", &parsed.fpr, 1e-7, 0.5},
                                    {"--rounds", "N", "rounds", &parsed.rounds, 0, 1000}});
  return parsed;
}

// The exit code and the output on stderr.
std::pair<int, std::string> Refusal(std::initializer_list<const char*> arguments) {
  ::testing::internal::CaptureStderr();
  int code = -1;
  try {
    Parse(arguments);
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
        std::tuple{"--seed", "-1", "0 to 4294967295"},
        std::tuple{"--rounds", "1001", "0 to 1000"}}) {
    const auto [code, message] = Refusal({argument, value});
    EXPECT_EQ(code, 2) << argument << ' ' << value;
    EXPECT_THAT(message, HasSubstr(argument));
    EXPECT_THAT(message, HasSubstr(value));
    EXPECT_THAT(message, HasSubstr(range));
  }
}

TEST(OptionsTest, ContradictoryOrUnknownArgumentsAreRefused) {
  EXPECT_EQ(Refusal({"--rows", "1000", "--input", "-"}).first, 2);
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
  const Parsed parsed = Parse({"--rows", "5000", "--rounds", "0", "--seed", "7", "--fpr", "0.001",
                               "--out", "o", "--db-dir", "d"});
  EXPECT_EQ(parsed.options.rows, 5000U);
  EXPECT_EQ(parsed.options.seed, 7U);
  EXPECT_EQ(parsed.options.out, "o");
  EXPECT_EQ(parsed.options.db_dir, "d");
  EXPECT_EQ(parsed.rounds, 0U);
  EXPECT_EQ(parsed.fpr, 0.001);
}

TEST(RunJobTest, WritesResultsWithTheFactsThatAllJobsHave) {
  const TempDir dir(::testing::TempDir());
  const auto parse = [&] { return Parse({"--quick", "--out", dir.path().c_str()}).options; };
  std::filesystem::path db_dir;
  EXPECT_EQ(RunJob("job", parse,
                   [&](Job& job) {
                     db_dir = job.db_dir;
                     EXPECT_TRUE(std::filesystem::is_empty(db_dir));
                     job.results.Of("name").Add("metric", "", 1);
                   }),
            0);
  EXPECT_FALSE(std::filesystem::exists(db_dir));
  std::ifstream file(dir.path() / "job.json");
  const Json json = Json::parse(file);
  EXPECT_EQ(json["rows"].size(), 1U);
  EXPECT_EQ(json["facts"]["quick"], true);
  EXPECT_GE(json["facts"]["seconds"], 0);
}

}  // namespace
}  // namespace blocksieve::bench
