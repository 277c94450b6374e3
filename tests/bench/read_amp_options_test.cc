// The main job's command line.

#include "bench/read_amp/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/support/terminal.h"

namespace blocksieve::bench::read_amp {
namespace {

using ::testing::HasSubstr;

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
