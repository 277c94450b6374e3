#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Stock RocksDB, blocksieve, stock RocksDB, blocksieve, on one database: in every step the results
// are right, and the filters of every file that can be of use are (a changed name has silently
// turned off every old filter before: rocksdb#9736).

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

struct Stock {
  const char* name;
  const char* policy;
};

class Migration : public ::testing::TestWithParam<std::tuple<Stock, FilterShape>> {
 protected:
  static constexpr uint64_t kKeysPerStep = 1000;

  static DbConfig Config(const std::string& policy) {
    return MakeConfig(std::get<1>(GetParam()), PolicyFromString(policy));
  }
  static DbConfig Stocks() { return Config(std::get<0>(GetParam()).policy); }
  static DbConfig Ours() { return Config("blocksieve:0.01"); }

  // Each step writes one file, of keys spread over the whole range.
  void WriteFile(TestDb* db) {
    for (uint64_t i = 0; i < kKeysPerStep; ++i) {
      db->Put(MakeKey(KeyShape::kUrl, 2 * (8 * i + step_)), "step " + std::to_string(step_));
    }
    db->Flush();
    ++step_;
  }

  // Of the probes of absent keys, the share that filters rejected: about
  // (files with a filter that can be read) / files. Checks results on the way.
  static double RejectedShare(TestDb* db) {
    const auto absent = AbsentKeys(KeyShape::kUrl, 8 * kKeysPerStep);
    EXPECT_EQ(CheckReads(&db->db(), db->model(), absent), "");
    db->ResetUse();
    EXPECT_EQ(CheckGets(&db->db(), {}, absent), "");
    const uint64_t probes = absent.size() * FileCount(db);
    return static_cast<double>(db->Use().rejected) / static_cast<double>(probes);
  }

  static uint64_t FileCount(TestDb* db) {
    std::vector<rocksdb::LiveFileMetaData> files;
    (*db)->GetLiveFilesMetaData(&files);
    return files.size();
  }

  uint64_t step_ = 0;
};

TEST_P(Migration, ToUsAndBackAndToUsAgain) {
  TestDb db(Stocks());
  WriteFile(&db);
  EXPECT_GT(RejectedShare(&db), 0.97);

  // Without a rewrite, the stock filters work on.
  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file read by us";
  WriteFile(&db);
  EXPECT_EQ(db.FilterPolicyNames().count("blocksieve"), 1u);
  EXPECT_EQ(db.FilterPolicyNames().size(), 2u);
  EXPECT_GT(RejectedShare(&db), 0.97) << "a stock file and one of ours, read by us";

  // Stock RocksDB sees the filters of our files as "always may match".
  db.Reopen(Stocks());
  const double half = RejectedShare(&db);
  EXPECT_GT(half, 0.48) << "a stock file and one of ours, read by stock RocksDB";
  EXPECT_LT(half, 0.51);
  WriteFile(&db);
  EXPECT_NEAR(RejectedShare(&db), 2.0 / 3, 0.02) << "two stock files and one of ours";
  EXPECT_TRUE(db->VerifyChecksum().ok());

  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97) << "all three, read by us";
  EXPECT_TRUE(db->VerifyChecksum().ok());

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

// Full filters become partitioned ones and the other way around, as files are rewritten.
TEST_P(Migration, BetweenFullAndPartitioned) {
  const FilterShape other = std::get<1>(GetParam()) == FilterShape::kFull
                                ? FilterShape::kPartitioned
                                : FilterShape::kFull;
  TestDb db(Stocks());
  WriteFile(&db);
  db.Reopen(MakeConfig(other, PolicyFromString("blocksieve:0.01")));
  EXPECT_GT(RejectedShare(&db), 0.97);
  WriteFile(&db);
  EXPECT_GT(RejectedShare(&db), 0.97);
  db.Reopen(MakeConfig(other, PolicyFromString(std::get<0>(GetParam()).policy)));
  EXPECT_NEAR(RejectedShare(&db), 0.495, 0.015);
  db.Reopen(Ours());
  EXPECT_GT(RejectedShare(&db), 0.97);
}

INSTANTIATE_TEST_SUITE_P(
    Policies, Migration,
    ::testing::Combine(::testing::Values(Stock{"Bloom", "bloomfilter:10:false"},
                                         Stock{"Ribbon", "ribbonfilter:10:-1"}),
                       kBothShapes),
    ParamNames());

}  // namespace
}  // namespace blocksieve
