#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Stock RocksDB, blocksieve, stock RocksDB, blocksieve, on one database: in every step the results
// are right, and all readable filters are used (a changed name once silently turned off every old
// filter: rocksdb#9736).

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
  static double RejectedShare(rocksdb::DB* db, const TestDb::Model& model) {
    const auto absent = AbsentKeys(KeyShape::kUrl, 8 * kKeysPerStep);
    EXPECT_EQ(CheckReads(db, model, absent), "");
    EXPECT_TRUE(db->VerifyChecksum().ok());
    rocksdb::Statistics& statistics = *db->GetDBOptions().statistics;
    MustBeOk(statistics.Reset(), "statistics");
    EXPECT_EQ(CheckGets(db, {}, absent), "");
    const uint64_t probes = absent.size() * FilesOf(*db).size();
    return static_cast<double>(FilterUseSoFar(statistics).rejected) / static_cast<double>(probes);
  }
  static double RejectedShare(TestDb* db) { return RejectedShare(&db->db(), db->model()); }

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

// Rewriting files turns full filters into partitioned ones, and back.
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

// Read-only and secondary instances.
TEST_P(Migration, OtherInstancesReadBlocksieveFiles) {
  TestDb db(Ours());
  WriteFile(&db);
  const std::string path = db.dir() / "checkpoint";
  MustBeOk(NewCheckpoint(&db.db())->CreateCheckpoint(path), "checkpoint");
  const TestDb::Model model = db.model();
  rocksdb::Options options = Ours().ToOptions();
  options.max_open_files = -1;
  const auto secondary = OpenSecondary(options, db.path(), db.dir() / "secondary");
  WriteFile(&db);
  db.Compact();
  MustBeOk(secondary->TryCatchUpWithPrimary(), "catch up");
  EXPECT_GT(RejectedShare(secondary.get(), db.model()), 0.97);
  const auto ours = OpenReadOnly(Ours().ToOptions(), path);
  EXPECT_GT(RejectedShare(ours.get(), model), 0.97);
  const auto stocks = OpenReadOnly(Stocks().ToOptions(), path);
  EXPECT_EQ(RejectedShare(stocks.get(), model), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Policies, Migration,
    ::testing::Combine(::testing::Values(Stock{"Bloom", "bloomfilter:10:false"},
                                         Stock{"Ribbon", "ribbonfilter:10:-1"}),
                       kBothShapes),
    ParamNames());

}  // namespace
}  // namespace blocksieve
