#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Stock RocksDB, blocksieve, stock RocksDB, blocksieve, on one database: in every step the results
// are right, and all readable filters are used (a changed name once silently turned off every old
// filter: rocksdb#9736). Filters may be partitioned before and full after, or the reverse.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

struct Stock {
  const char* name;
  const char* policy;
  FilterShape shape;
};

class Migration : public ::testing::TestWithParam<std::tuple<Stock, FilterShape>> {
 protected:
  static constexpr uint64_t kKeysPerStep = 1000;

  static DbConfig Stocks() {
    const Stock& stock = std::get<0>(GetParam());
    return MakeConfig(stock.shape, PolicyFromString(stock.policy));
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

TEST_P(Migration, ToBlocksieveAndBackTwice) {
  TestDb db(Stocks());
  WriteFile(&db);
  EXPECT_GT(RejectedShare(&db), 0.97);

  // Stock filters still work, without a rewrite.
  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file read by us";
  WriteFile(&db);
  EXPECT_EQ(db.FilterPolicyNames().count("blocksieve"), 1u);
  EXPECT_EQ(db.FilterPolicyNames().size(), 2u);
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file and one of ours, read by us";

  // Stock RocksDB reads blocksieve's filters as "always may match".
  db.Reopen(Stocks());
  const double half = RejectedShare(&db);
  EXPECT_GT(half, 0.48) << "a stock file and one of ours, read by stock RocksDB";
  EXPECT_LT(half, 0.51);
  WriteFile(&db);
  EXPECT_NEAR(RejectedShare(&db), 2.0 / 3, 0.02) << "two stock files and one of ours";

  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "all three, read by us";

  // Compaction rewrites everything with the policy in effect.
  db.Compact();
  EXPECT_EQ(db.FilterPolicyNames(), std::set<std::string>{"blocksieve"});
  EXPECT_GT(RejectedShare(&db), 0.97);
  db.Reopen(Stocks());
  EXPECT_LT(RejectedShare(&db), 0.01) << "all ours, read by stock RocksDB";
  db.Compact();
  EXPECT_EQ(db.FilterPolicyNames().count("blocksieve"), 0u);
  EXPECT_GT(RejectedShare(&db), 0.97) << "all rewritten by stock RocksDB";
}

INSTANTIATE_TEST_SUITE_P(Policies, Migration,
                         ::testing::Combine(::testing::Values(Stock{"Bloom", "bloomfilter:10:false",
                                                                    FilterShape::kPartitioned},
                                                              Stock{"Ribbon", "ribbonfilter:10:-1",
                                                                    FilterShape::kFull}),
                                            kBothShapes),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
