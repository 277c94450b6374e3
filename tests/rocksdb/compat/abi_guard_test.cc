// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/filter_bits_abi.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

TEST(AbiGuardTest, FindsMissingFunctions) {
  EXPECT_FALSE(LacksFunction("_ZN7rocksdb13SstFileReaderC1ERKNS_7OptionsE"));
  EXPECT_TRUE(LacksFunction("_ZN7rocksdb13SstFileReaderC1ERKNS_9NoOptionsE"));
}

TEST(AbiGuardTest, KnowsTheFirstAndLastVersionOfEachGeneration) {
  const std::vector<std::string> versions[] = {
      {"0.0.0", "6.29.5", "7.0.0", "7.0.2", "11.10.0", "12.0.0", "100.0.0"},  // unknown
      {"7.0.3", "7.0.4", "7.1.0", "7.8.3", "7.10.2", "8.11.4", "9.5.2"},
      {"9.6.1", "9.11.2", "10.0.1", "10.8.3"},
      {"10.9.1", "10.10.1", "11.0.0", "11.9.0"},
  };
  for (int generation = 0; generation <= 3; ++generation) {
    for (const std::string& version : versions[generation]) {
      EXPECT_EQ(ParseAbiGeneration(version), generation) << version;
    }
  }
}

TEST(AbiGuardTest, RejectsMalformedVersions) {
  std::istringstream texts(
      "|.|..|7|7.8|7.8.|7..3|.8.3|7.8.3.|7.8.3.1|7.8.3-dev| 7.8.3|7.8.3 "
      "|v7.8.3|-7.8.3|7.-8.3|7.8.-3|"
      "+7.8.3|7.8.x|0x7.8.3|99999999999999999999.1.1|7.8.99999999999999999999|seven");
  for (std::string text; std::getline(texts, text, '|');) {
    EXPECT_EQ(ParseAbiGeneration(text), 0) << "\"" << text << "\"";
    EXPECT_NE(AbiProblem(text), "") << "\"" << text << "\"";
  }
  EXPECT_EQ(ParseAbiGeneration(std::string_view("7.8.3\0", 6)), 0);
  EXPECT_EQ(ParseAbiGeneration(std::string_view("7.8.34", 5)), 1) << "reads past the end";
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
