#include "integration/rocksdb/compat/filter_bits_abi.h"

#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include <memory>
#include <sstream>
#include <string>

#include "integration/rocksdb/policy/policy.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

TEST(AbiGuard, FindsMissingFunctions) {
  EXPECT_FALSE(LacksFunction("_ZN7rocksdb13SstFileReaderC1ERKNS_7OptionsE"));
  EXPECT_TRUE(LacksFunction("_ZN7rocksdb13SstFileReaderC1ERKNS_9NoOptionsE"));
}

TEST(AbiGuard, KnowsTheFirstAndLastVersionOfEachGeneration) {
  for (const char* version : {"7.0.3", "7.0.4", "7.1.0", "7.8.3", "7.10.2", "8.11.4", "9.5.2"}) {
    EXPECT_EQ(AbiGenerationOf(version), 1) << version;
  }
  for (const char* version : {"9.6.1", "9.11.2", "10.0.1", "10.8.3"}) {
    EXPECT_EQ(AbiGenerationOf(version), 2) << version;
  }
  for (const char* version : {"10.9.1", "10.10.1", "11.0.0", "11.9.0"}) {
    EXPECT_EQ(AbiGenerationOf(version), 3) << version;
  }
}

TEST(AbiGuard, KnowsNoOlderAndNewerVersions) {
  for (const char* version :
       {"0.0.0", "6.29.5", "7.0.0", "7.0.2", "11.10.0", "12.0.0", "100.0.0"}) {
    EXPECT_EQ(AbiGenerationOf(version), 0) << version;
  }
}

TEST(AbiGuard, RejectsMalformedVersions) {
  std::istringstream texts(
      "|.|..|7|7.8|7.8.|7..3|.8.3|7.8.3.|7.8.3.1|7.8.3-dev| 7.8.3|7.8.3 "
      "|v7.8.3|-7.8.3|7.-8.3|7.8.-3|"
      "+7.8.3|7.8.x|0x7.8.3|99999999999999999999.1.1|7.8.99999999999999999999|seven");
  for (std::string text; std::getline(texts, text, '|');) {
    EXPECT_EQ(AbiGenerationOf(text), 0) << "\"" << text << "\"";
    EXPECT_NE(AbiProblem(text), "") << "\"" << text << "\"";
  }
  EXPECT_EQ(AbiGenerationOf(std::string_view("7.8.3\0", 6)), 0);
  EXPECT_EQ(AbiGenerationOf(std::string_view("7.8.34", 5)), 1) << "reads past the end";
}

TEST(AbiGuard, HeadersAndLibraryOfThisBuildMatch) {
  const std::string compiled = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
                               "." + std::to_string(ROCKSDB_PATCH);
  EXPECT_EQ(AbiGenerationOf(compiled), BLOCKSIEVE_ABI_GENERATION);
  EXPECT_EQ(AbiProblem(compiled), "");
  EXPECT_EQ(LoadedAbiProblem(), "");
}

TEST(AbiGuard, AProblemNamesBothVersions) {
  const std::string compiled =
      std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) + ".";
  for (const char* loaded : {"7.8.3", "9.6.1", "10.9.1"}) {
    if (AbiGenerationOf(loaded) == BLOCKSIEVE_ABI_GENERATION) continue;
    const std::string problem = AbiProblem(loaded);
    EXPECT_NE(problem.find(loaded), std::string::npos) << problem;
    EXPECT_NE(problem.find(compiled), std::string::npos) << problem;
    EXPECT_NE(problem.find("differs"), std::string::npos) << problem;
  }
  EXPECT_NE(AbiProblem("12.0.0").find("unknown"), std::string::npos);
}

/// A policy for a library of another generation, which must not use the interface.
std::shared_ptr<const rocksdb::FilterPolicy> MismatchedPolicy(double target_fpr) {
  const char* const other =
      AbiGenerationOf("7.8.3") == BLOCKSIEVE_ABI_GENERATION ? "9.6.1" : "7.8.3";
  return std::make_shared<Policy>(FilterPolicyOptions{.target_fpr = target_fpr}, AbiProblem(other));
}

// Databases with such a policy have stock Bloom filters, which work, and lose nothing.
class AbiRefused : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr double kTarget = 0.01;
  static constexpr uint64_t kKeys = 5000;

  AbiRefused()
      : refused_(MakeConfig(GetParam(), MismatchedPolicy(kTarget))),
        working_(MakeConfig(GetParam(), *NewFilterPolicy({.target_fpr = kTarget}))),
        stock_(MakeConfig(GetParam(), std::shared_ptr<const rocksdb::FilterPolicy>(
                                          rocksdb::NewBloomFilterPolicy(10)))) {}

  static void Fill(TestDb* db) { db->Fill(PresentKeys(KeyShape::kUrl, kKeys)); }

  void ExpectAllFound(TestDb* db) { EXPECT_EQ(CheckReads(&db->db(), db->model(), absent_), ""); }

  void ExpectFiltered(TestDb* db) {
    ExpectAllFound(db);
    EXPECT_GT(db->Use().rejected, 0u);
    // Among 10,000 absent keys. Stock partitions are small, and their rates vary.
    EXPECT_LT(db->Use().fpr(), 1.5 * kTarget);
  }

  const DbConfig refused_;
  const DbConfig working_;
  const DbConfig stock_;
  const std::vector<std::string> absent_ = AbsentKeys(KeyShape::kUrl, kKeys);
};

TEST_P(AbiRefused, FilesItWritesHaveStockFilters) {
  for (const bool is_fitted : {false, true}) {
    DbConfig config = refused_;
    // Stock builders then refer to their policy during their lifetime (found by valgrind).
    config.table.optimize_filters_for_memory = is_fitted;
    TestDb db(config);
    Fill(&db);
    ExpectFiltered(&db);
    const uint64_t bits_per_entry = 8 * db.FilterBytes() / db.FilterEntries();
    EXPECT_GE(bits_per_entry, 8u);
    EXPECT_LE(bits_per_entry, 13u);
    for (const DbConfig* reading : {&stock_, &working_, &refused_}) {
      db.Reopen(*reading);
      ExpectFiltered(&db);
    }
  }
}

TEST_P(AbiRefused, BlocksieveFiltersAreIgnoredUntilCompaction) {
  TestDb db(working_);
  Fill(&db);
  ExpectFiltered(&db);
  db.Reopen(refused_);
  ExpectAllFound(&db);
  EXPECT_EQ(db.Use().rejected, 0u);
  db.Compact();
  db.ResetUse();
  ExpectFiltered(&db);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AbiRefused, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
