#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// The policy as compiled with RocksDB 99, which is later than any known one. This program overrides
// RocksDB's function, so that the library is that version, too.

namespace rocksdb {

[[gnu::visibility("default")]] std::string GetRocksVersionAsString(bool) { return "99.0.0"; }

}  // namespace rocksdb

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

TEST(LaterRocksDbTest, EveryKindBuildsRocksDbsOwnFiltersAndSaysSo) {
  constexpr uint64_t kKeys = 5000;
  for (const PolicyKind kind :
       {PolicyKind::kAuto, PolicyKind::kBloom, PolicyKind::kRibbon, PolicyKind::kStock}) {
    DbConfig config =
        MakeConfig(FilterShape::kFull, *NewFilterPolicy({.bits_per_key = 10, .kind = kind}));
    TestDb db(config);
    db.Fill(PresentKeys(KeyShape::kUrl, kKeys));
    db.Compact();
    db.Fill(PresentKeys(KeyShape::kUrl, kKeys / 10), "newer");
    const auto absent = AbsentKeys(KeyShape::kUrl, kKeys);
    std::string log;
    MustBeOk(rocksdb::ReadFileToString(rocksdb::Env::Default(), db.path() + "/LOG", &log), "log");
    const std::string line = "RocksDB's own filters of the same goal are built (kind=stock)";
    EXPECT_EQ(log.find(line) == std::string::npos, kind == PolicyKind::kStock);
    EXPECT_EQ(log.find(line), log.rfind(line));
    for (const bool has_plugin : {true, false}) {
      EXPECT_EQ(CheckReads(&db.db(), db.model(), absent), "");
      db.ResetUse();
      EXPECT_EQ(CheckGets(&db.db(), {}, absent), "");
      EXPECT_GT(db.Use().rejected, kKeys) << has_plugin;
      EXPECT_LT(db.Use().fpr(), 0.02) << has_plugin;
      config.table.filter_policy = PolicyFromString("ribbonfilter:5");
      db.Reopen(config);
    }
  }
}

}  // namespace
}  // namespace blocksieve
