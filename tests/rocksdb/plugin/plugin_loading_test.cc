#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/support/environment.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temp_dir.h"

// The plug-in in programs that link it, open it, or have it preloaded; and its environment
// variables. (CMake defines where the programs and the plug-in are.)

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

using Environment = std::map<std::string, std::string>;

Environment Preloaded(Environment environment = {}) {
  environment["LD_PRELOAD"] = BLOCKSIEVE_PLUGIN;
  return environment;
}

struct Report {
  std::string text;
  std::string policy;
  std::string written;
  int found = 0;
  int rejected = 0;
};

class PluginLoading : public ::testing::Test {
 protected:
  Report Run(const std::string& program, const std::string& policy, const Environment& environment,
             const std::vector<std::string>& more = {}) {
    std::vector<std::string> command = {program, dir_ / "db", policy};
    command.insert(command.end(), more.begin(), more.end());
    const ChildResult child = RunChild(command, environment);
    EXPECT_EQ(child.exit_code, 0) << child.output;
    Report report;
    report.text = child.output;
    const std::regex line("policy=(\\S+) written=(\\S*) found=(\\d+) rejected=(\\d+)");
    if (std::smatch parts; std::regex_search(child.output, parts, line)) {
      report.policy = parts[1];
      report.written = parts[2];
      report.found = std::stoi(parts[3]);
      report.rejected = std::stoi(parts[4]);
    }
    return report;
  }

  void ExpectOurs(const Report& report, int least_rejected = 1950) {
    EXPECT_EQ(report.policy, "blocksieve") << report.text;
    EXPECT_EQ(report.written, "blocksieve") << report.text;
    EXPECT_EQ(report.found, 2000) << report.text;
    EXPECT_GE(report.rejected, least_rejected) << report.text;
  }

  TempDir dir_;
};

TEST_F(PluginLoading, WithoutItThePolicyIsUnknown) {
  EXPECT_EQ(Run(PLAIN_PROGRAM, "blocksieve:0.01", {}).policy, "none");
}

TEST_F(PluginLoading, EveryWayRegistersThePolicy) {
  // Two copies of all its code and data, as of two versions installed side by side.
  const std::string copy = dir_ / "libblocksieve_rocksdb_copy.so";
  std::filesystem::copy_file(BLOCKSIEVE_PLUGIN, copy);
  const struct {
    const char* way;
    std::string program;
    const char* policy;
    bool is_preloaded = false;
    std::vector<std::string> opened = {};
  } ways[] = {
      {"linked", LINKED_PROGRAM, "blocksieve:0.01"},
      {"dlopen, and closed again", PLAIN_PROGRAM, "blocksieve:0.01", false, {BLOCKSIEVE_PLUGIN}},
      {"preloaded", PLAIN_PROGRAM, "{id=blocksieve;target_fpr=0.01}", true},
      {"all three", LINKED_PROGRAM, "blocksieve:0.01", true, {BLOCKSIEVE_PLUGIN}},
      {"with a copy", LINKED_PROGRAM, "blocksieve:0.01", false, {copy}},
      {"ribbons with a copy", LINKED_PROGRAM, "{id=blocksieve;kind=ribbon}", false, {copy}},
  };
  for (const auto& [way, program, policy, is_preloaded, opened] : ways) {
    SCOPED_TRACE(way);
    if (is_preloaded && !kCanPreload) continue;
    ExpectOurs(Run(program, policy, is_preloaded ? Preloaded() : Environment{}, opened));
    std::filesystem::remove_all(dir_ / "db");
  }
}

TEST_F(PluginLoading, BuiltinPoliciesAreStockByDefault) {
  for (const Environment& environment :
       {Environment{}, Environment{{"BLOCKSIEVE_REPLACE_BUILTIN", "0"}},
        Environment{{"BLOCKSIEVE_REPLACE_BUILTIN", ""}},
        Environment{{"BLOCKSIEVE_REPLACE_BUILTIN", "yes"}}}) {
    for (const char* call : {"call:bloom", "call:ribbon"}) {
      // A linked plug-in also comes before RocksDB.
      const Report report = Run(LINKED_PROGRAM, call, environment);
      EXPECT_NE(report.policy, "blocksieve") << report.text;
      EXPECT_NE(report.policy, "none") << report.text;
      EXPECT_EQ(report.found, 2000);
      EXPECT_GT(report.rejected, 1900);
      const bool is_refused = environment.contains("BLOCKSIEVE_REPLACE_BUILTIN") &&
                              environment.at("BLOCKSIEVE_REPLACE_BUILTIN") == "yes";
      EXPECT_EQ(
          report.text.find("BLOCKSIEVE_REPLACE_BUILTIN is yes; allowed: 0, 1") != std::string::npos,
          is_refused)
          << report.text;
    }
  }
}

TEST_F(PluginLoading, BuiltinPoliciesAreReplacedOnRequest) {
  if (!kCanPreload) GTEST_SKIP() << "nothing can be preloaded";
  const Environment replacing = Preloaded({{"BLOCKSIEVE_REPLACE_BUILTIN", "1"}});
  for (const char* call : {"call:bloom", "call:ribbon"}) {
    ExpectOurs(Run(PLAIN_PROGRAM, call, replacing), 0);
    std::filesystem::remove_all(dir_ / "db");
  }
  // They read stock filters.
  const Report stock = Run(PLAIN_PROGRAM, "call:bloom", {});
  const Report replaced = Run(PLAIN_PROGRAM, "call:bloom", replacing);
  EXPECT_EQ(replaced.policy, "blocksieve");
  EXPECT_EQ(replaced.written, stock.written);
  EXPECT_NE(replaced.written, "blocksieve");
  EXPECT_EQ(replaced.found, 2000);
  EXPECT_EQ(replaced.rejected, stock.rejected);
}

// All kernels give the same answers on the same filter. (Unknown names: tests/cli/usage_test.py.)
TEST_F(PluginLoading, KernelsCanBeForced) {
  const Report first = Run(LINKED_PROGRAM, "blocksieve:0.05", {});
  ExpectOurs(first, 1800);
  for (const char* kernel : {"scalar", "avx2", "avx512", "neon", ""}) {
    const Report report = Run(LINKED_PROGRAM, "blocksieve:0.05", {{"BLOCKSIEVE_KERNEL", kernel}});
    EXPECT_EQ(report.found, 2000) << kernel;
    EXPECT_EQ(report.rejected, first.rejected) << kernel;
    // On a processor without it, a warning appears and the program continues.
    if (report.text.find("not available") == std::string::npos) {
      EXPECT_EQ(report.text.find("BLOCKSIEVE_KERNEL"), std::string::npos) << report.text;
    }
  }
}

}  // namespace
}  // namespace blocksieve
