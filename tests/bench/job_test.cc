// The command line of jobs.

#include "bench/support/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
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
    .benchmark = "job",
    .description = "Measures.",
    .quick_help = "less",
    .examples = "Examples: none",
    .rows_help = "this many rows",
    .min_rows = kMinRows,
    .has_one_source = true,
    .takes_fpr = true,
};

JobOptions Parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv = {"job"};
  argv.insert(argv.end(), arguments);
  return ParseJobOptions(kManual, static_cast<int>(argv.size()), argv.data());
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
        std::tuple{"--input", "/no/such/file", "does not exist"}}) {
    const auto [code, message] = Refusal({argument, value});
    EXPECT_EQ(code, 2) << argument << ' ' << value;
    EXPECT_THAT(message, HasSubstr(argument));
    EXPECT_THAT(message, HasSubstr(value));
    EXPECT_THAT(message, HasSubstr(range));
  }
}

TEST(OptionsTest, ContradictoryArgumentsAreRefused) {
  EXPECT_EQ(Refusal({"--rows", "1000", "--input", "-"}).first, 2);
}

TEST(OptionsTest, HelpIsNotAnError) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(Refusal({"--help"}).first, 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("Examples:"));
}

TEST(RunJobTest, PassesOptionsAndWritesResultsWithTheFactsThatAllJobsHave) {
  const TempDir dir(::testing::TempDir());
  const char* const argv[] = {"job", "--quick", "--rows", "5000",  "--seed",
                              "7",   "--fpr",   "0.001",  "--out", dir.path().c_str()};
  std::filesystem::path db_dir;
  const auto measure = [&](Job& job) {
    EXPECT_EQ(job.options.rows, 5000U);
    EXPECT_EQ(job.options.seed, 7U);
    EXPECT_EQ(job.options.target_fpr, 0.001);
    db_dir = job.db_dir;
    EXPECT_TRUE(std::filesystem::is_empty(db_dir));
    job.results.Of("name").Add("metric", "", 1);
  };
  EXPECT_EQ(RunJob(kManual, static_cast<int>(std::size(argv)), argv, measure), 0);
  EXPECT_FALSE(std::filesystem::exists(db_dir));
  std::ifstream file(dir.path() / "job.json");
  const Json json = Json::parse(file);
  EXPECT_EQ(json["rows"].size(), 1U);
  EXPECT_EQ(json["facts"]["quick"], true);
  EXPECT_GE(json["facts"]["seconds"], 0);
}

}  // namespace
}  // namespace blocksieve::bench
