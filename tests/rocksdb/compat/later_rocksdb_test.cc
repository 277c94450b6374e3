// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "integration/rocksdb/compat/building_context.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// The policy as compiled with RocksDB 99, which is later than any known one. This program overrides
// RocksDB's function, so that the library is that version, too, or another one.

namespace {

std::string loaded_version = "99.0.0";  // NOLINT: what the function below returns

}  // namespace

namespace rocksdb {

[[gnu::visibility("default")]] std::string GetRocksVersionAsString(bool) { return loaded_version; }

}  // namespace rocksdb

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

TEST(LaterRocksDbTest, EveryKindBuildsRocksDbsOwnFiltersAndSaysSo) {
  EXPECT_TRUE(rocksdb_plugin::CheckRocksDb({}).ok());
  EXPECT_TRUE(rocksdb_plugin::CheckRocksDb({.ranges = true}).IsNotSupported());
  constexpr uint64_t kKeys = 5000;
  for (const FilterKind kind :
       {FilterKind::kAuto, FilterKind::kBlockedBloom, FilterKind::kRibbon, FilterKind::kStock}) {
    DbConfig config = MakeConfig(FilterShape::kFull, NewPolicy({.bits_per_key = 10, .kind = kind}));
    TestDb db(config);
    db.Fill(PresentKeys(KeyShape::kUrl, kKeys));
    db.Compact();
    db.Fill(PresentKeys(KeyShape::kUrl, kKeys / 10), "newer");
    const auto absent = AbsentKeys(KeyShape::kUrl, kKeys);
    const std::string line = "RocksDB's own filters of the same goal are built (kind=stock)";
    EXPECT_EQ(CountOf(ReadFile(db.path() + "/LOG"), line), kind == FilterKind::kStock ? 0u : 1u);
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

// From `reason` on, its context may differ: that part is on a page that cannot be read.
TEST(LaterRocksDbTest, TheEndOfAnUnknownContextIsNotRead) {
  loaded_version = "100.0.0";
  const std::string problem = rocksdb_plugin::AbiProblem(loaded_version);
  const rocksdb::BlockBasedTableOptions table;
  constexpr size_t kKnownBytes = sizeof(rocksdb::FilterBuildingContext) - sizeof(void*);
  const GuardedBytes known(kKnownBytes);
  ASSERT_TRUE(known.Guard(PROT_READ | PROT_WRITE));
  auto* const context = new (known.data()) rocksdb::FilterBuildingContext(table);
  ASSERT_EQ(reinterpret_cast<uint8_t*>(&context->reason), known.data() + kKnownBytes);
  ASSERT_TRUE(known.Guard(PROT_NONE));
  for (const bool by_level : {false, true}) {
    EnableOptions options{.kind = FilterKind::kBlockedBloom};
    (by_level ? options.bits_per_key : options.target_fpr) = by_level ? 10 : 0.01;
    const rocksdb_plugin::Policy policy(options, problem, /*is_compiled_for=*/false);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(*context));
    EXPECT_NE(builder, nullptr);
    EXPECT_FALSE(rocksdb_plugin::IsOfFlush(*context));
  }
  ASSERT_TRUE(known.Guard(PROT_READ | PROT_WRITE));
  context->~FilterBuildingContext();
}

}  // namespace
}  // namespace blocksieve
