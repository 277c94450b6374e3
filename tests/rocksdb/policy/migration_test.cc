// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Stock RocksDB, blocksieve, stock RocksDB, blocksieve, on one database: in every step the results
// are right, and all readable filters are used (a changed name once silently turned off every old
// filter: rocksdb#9736). Filters may be partitioned before and full after, or the reverse. A policy
// in a RocksDB whose filter interface it must not use builds and reads filters as stock RocksDB
// does.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

using PolicyPtr = std::shared_ptr<const rocksdb::FilterPolicy>;

struct Stock {
  const char* name;
  FilterShape shape;
  std::function<PolicyPtr()> make_policy;
  bool reads_ours = false;
};

PolicyPtr MismatchedPolicy() {
  using namespace rocksdb_plugin;  // NOLINT: what is tested
  const char* const other =
      ParseAbiGeneration("7.8.3") == BLOCKSIEVE_ABI_GENERATION ? "9.6.1" : "7.8.3";
  return std::make_shared<Policy>(EnableOptions{.target_fpr = 0.01}, AbiProblem(other));
}

const Stock kStocks[] = {
    {"Bloom", FilterShape::kPartitioned, [] { return PolicyFromString("bloomfilter:10:false"); }},
    {"Ribbon", FilterShape::kFull, [] { return PolicyFromString("ribbonfilter:10:-1"); }},
    {"Refused", FilterShape::kFull, MismatchedPolicy},
    {"StockKind", FilterShape::kFull,
     [] { return PolicyFromString("{id=blocksieve;target_fpr=0.01;kind=stock}"); },
     /*reads_ours=*/true},
};

class MigrationTest : public ::testing::TestWithParam<std::tuple<Stock, FilterShape>> {
 protected:
  static constexpr uint64_t kKeysPerStep = 1000;

  MigrationTest() { blocksieve_rocksdb_register(); }

  static DbConfig Stocks() {
    const Stock& stock = std::get<0>(GetParam());
    DbConfig config = MakeConfig(stock.shape, stock.make_policy());
    // Stock builders then refer to their policy during their lifetime (found by valgrind).
    config.table.optimize_filters_for_memory = true;
    return config;
  }
  static DbConfig Ours() {
    return MakeConfig(std::get<1>(GetParam()), PolicyFromString("blocksieve:0.01"));
  }

  // Each step writes one file with keys of the whole range.
  void WriteFile(TestDb* db) {
    for (uint64_t i = 0; i < kKeysPerStep; ++i) {
      db->Put(MakeKey(KeyShape::kUrl, 2 * (8 * i + step_)), "step " + std::to_string(step_));
    }
    db->Flush();
    ++step_;
  }

  // Share of the probes of absent keys that filters rejected: about
  // (files with a readable filter) / files. Also checks results.
  static double RejectedShare(TestDb* db) {
    const auto absent = AbsentKeys(KeyShape::kUrl, 8 * kKeysPerStep);
    EXPECT_EQ(CheckReads(&db->db(), db->model(), absent), "");
    EXPECT_TRUE((*db)->VerifyChecksum().ok());
    db->ResetUse();
    EXPECT_EQ(CheckGets(&db->db(), {}, absent), "");
    const uint64_t probes = absent.size() * FilesOf(db->db()).size();
    return static_cast<double>(db->Use().rejected) / static_cast<double>(probes);
  }

  uint64_t step_ = 0;
};

TEST_P(MigrationTest, ToBlocksieveAndBackTwice) {
  TestDb db(Stocks());
  WriteFile(&db);
  EXPECT_GT(RejectedShare(&db), 0.97);
  const std::set<std::string> stock_names = db.FilterPolicyNames();

  // Stock filters still work, without a rewrite.
  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file read by us";
  WriteFile(&db);
  EXPECT_EQ(db.FilterPolicyNames().count("blocksieve"), 1u);
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file and one of ours, read by us";

  // Stock RocksDB reads blocksieve's filters as "always may match".
  const bool reads_ours = std::get<0>(GetParam()).reads_ours;
  db.Reopen(Stocks());
  EXPECT_NEAR(RejectedShare(&db), reads_ours ? 0.99 : 0.495, 0.015)
      << "a stock file and one of ours, read by stock RocksDB";
  WriteFile(&db);
  EXPECT_NEAR(RejectedShare(&db), reads_ours ? 0.99 : 2.0 / 3, 0.02)
      << "two stock files and one of ours";

  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "all three, read by us";

  // Compaction rewrites everything with the policy in effect.
  db.Compact();
  EXPECT_EQ(db.FilterPolicyNames(), std::set<std::string>{"blocksieve"});
  EXPECT_GT(RejectedShare(&db), 0.97);
  db.Reopen(Stocks());
  EXPECT_NEAR(RejectedShare(&db), reads_ours ? 0.99 : 0, 0.01) << "all ours, read by stock RocksDB";
  db.Compact();
  EXPECT_EQ(db.FilterPolicyNames(), stock_names);
  EXPECT_GT(RejectedShare(&db), 0.97) << "all rewritten by stock RocksDB";
}

INSTANTIATE_TEST_SUITE_P(Policies, MigrationTest,
                         ::testing::Combine(::testing::ValuesIn(kStocks), kBothShapes),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
