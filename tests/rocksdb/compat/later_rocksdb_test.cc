// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/building_context.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/key_sets.h"
#include "tests/support/new_policy.h"
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
    std::string log;
    MustBeOk(rocksdb::ReadFileToString(rocksdb::Env::Default(), db.path() + "/LOG", &log), "log");
    const std::string line = "RocksDB's own filters of the same goal are built (kind=stock)";
    EXPECT_EQ(log.find(line) == std::string::npos, kind == FilterKind::kStock);
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

// From `reason` on, its context may differ: that part is on a page that cannot be read.
TEST(LaterRocksDbTest, TheEndOfAnUnknownContextIsNotRead) {
  loaded_version = "100.0.0";
  const std::string problem = rocksdb_plugin::AbiProblem(loaded_version);
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const pages = static_cast<char*>(
      mmap(nullptr, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  rocksdb::BlockBasedTableOptions table;
  const size_t known_bytes = sizeof(rocksdb::FilterBuildingContext) - sizeof(void*);
  auto* const context =
      new (pages + page_bytes - known_bytes) rocksdb::FilterBuildingContext(table);
  ASSERT_EQ(reinterpret_cast<char*>(&context->reason), pages + page_bytes);
  ASSERT_EQ(mprotect(pages + page_bytes, page_bytes, PROT_NONE), 0);
  for (const bool by_level : {false, true}) {
    FilterPolicyOptions options{.kind = FilterKind::kBlockedBloom};
    (by_level ? options.bits_per_key : options.target_fpr) = by_level ? 10 : 0.01;
    const rocksdb_plugin::Policy policy(options, problem, /*is_compiled_for=*/false);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(*context));
    EXPECT_NE(builder, nullptr);
    EXPECT_FALSE(rocksdb_plugin::IsOfFlush(*context));
  }
  ASSERT_EQ(mprotect(pages + page_bytes, page_bytes, PROT_READ | PROT_WRITE), 0);
  context->~FilterBuildingContext();
  munmap(pages, 2 * page_bytes);
}

}  // namespace
}  // namespace blocksieve
