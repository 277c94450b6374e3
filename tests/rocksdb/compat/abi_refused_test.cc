#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/abi_guard.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Databases under a policy whose RocksDB is of another generation than it was compiled for: it has
// stock Bloom filters of the same rate, which work, and loses nothing.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr double kTarget = 0.01;
constexpr uint64_t kKeys = 5000;

/// As if the library said that it were of another generation.
std::shared_ptr<const rocksdb::FilterPolicy> RefusedPolicy() {
  const char* const other =
      AbiGenerationOf("7.8.3") == BLOCKSIEVE_ABI_GENERATION ? "9.6.1" : "7.8.3";
  const std::string problem = AbiProblem(other);
  EXPECT_NE(problem, "");
  FilterPolicyOptions options;
  options.target_fpr = kTarget;
  return std::make_shared<Policy>(options, problem);
}

class AbiRefused : public ::testing::TestWithParam<FilterShape> {
 protected:
  AbiRefused()
      : refused_(MakeConfig(GetParam(), RefusedPolicy())),
        working_(MakeConfig(GetParam(), WorkingPolicy())),
        stock_(MakeConfig(GetParam(), std::shared_ptr<const rocksdb::FilterPolicy>(
                                          rocksdb::NewBloomFilterPolicy(10)))) {}

  static std::shared_ptr<const rocksdb::FilterPolicy> WorkingPolicy() {
    return NewFilterPolicy({.target_fpr = 0.01});
  }

  static void Fill(TestDb* db) {
    for (const std::string& key : PresentKeys(KeyShape::kUrl, kKeys)) db->Put(key, "value");
    db->Flush();
  }

  void ExpectAllFound(TestDb* db) { EXPECT_EQ(CheckReads(&db->db(), db->model(), absent_), ""); }

  void ExpectFiltered(TestDb* db) {
    ExpectAllFound(db);
    EXPECT_GT(db->Use().rejected, 0u);
    // Of 10,000 absent keys; stock partitions are small, and their rates vary.
    EXPECT_LT(db->Use().fpr(), 1.5 * kTarget);
  }

  const DbConfig refused_;
  const DbConfig working_;
  const DbConfig stock_;
  const std::vector<std::string> absent_ = AbsentKeys(KeyShape::kUrl, kKeys);
};

// Stock builders then refer to their policy for as long as they live (seen by valgrind).
TEST_P(AbiRefused, FiltersMayBeFittedToTheAllocator) {
  DbConfig config = refused_;
  config.table.optimize_filters_for_memory = true;
  TestDb db(config);
  Fill(&db);
  ExpectFiltered(&db);
}

TEST_P(AbiRefused, WhatItWritesHasFiltersForEverybody) {
  TestDb db(refused_);
  Fill(&db);
  ExpectFiltered(&db);
  const uint64_t bits_per_entry = 8 * db.FilterBytes() / db.FilterEntries();
  EXPECT_GE(bits_per_entry, 8u);
  EXPECT_LE(bits_per_entry, 13u);
  for (const DbConfig* config : {&stock_, &working_, &refused_}) {
    db.Reopen(*config);
    ExpectFiltered(&db);
  }
}

TEST_P(AbiRefused, WhatOursWroteIsReadWithoutFiltersUntilItIsCompacted) {
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

INSTANTIATE_TEST_SUITE_P(Shapes, AbiRefused,
                         ::testing::Values(FilterShape::kFull, FilterShape::kPartitioned),
                         [](const auto& info) { return FilterShapeName(info.param); });

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
