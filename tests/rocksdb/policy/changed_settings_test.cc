#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// tests/PITFALLS.md, 19: files are read with other settings than they were written with. Every pair
// of settings below must agree on what is in the database.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

struct Setting {
  const char* name;
  std::function<void(DbConfig*)> apply;
};

void Prefix(DbConfig* config, size_t bytes, bool whole_keys) {
  config->options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(bytes));
  config->table.whole_key_filtering = whole_keys;
}

const Setting kSettings[] = {
    {"whole keys", [](DbConfig*) {}},
    {"another target",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:0.2"); }},
    {"prefixes", [](DbConfig* config) { Prefix(config, kGroupPrefixBytes, false); }},
    {"both", [](DbConfig* config) { Prefix(config, kGroupPrefixBytes, true); }},
    {"shorter prefixes", [](DbConfig* config) { Prefix(config, 3, true); }},
    {"shorter prefixes only", [](DbConfig* config) { Prefix(config, 3, false); }},
    // One byte more than a group's prefix: the '/' after it (22).
    {"longer prefixes only",
     [](DbConfig* config) { Prefix(config, kGroupPrefixBytes + 1, false); }},
    {"capped prefixes",
     [](DbConfig* config) {
       config->options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(9));
       config->table.whole_key_filtering = false;
     }},
    {"no filter", [](DbConfig* config) { config->table.filter_policy.reset(); }},
    {"stock Bloom",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("bloomfilter:10"); }},
};

class ChangedSettings : public ::testing::TestWithParam<FilterShape> {};

TEST_P(ChangedSettings, NothingIsLost) {
  std::vector<std::string> absent;
  std::vector<std::string> absent_prefixes;
  for (uint64_t group = 0; group < 60; ++group) {
    absent.push_back(GroupKey(2 * group + 1, 0));
    absent.push_back(GroupKey(2 * group, 1));
    absent_prefixes.push_back(GroupKey(2 * group + 1, 0));
  }
  uint64_t rejected = 0;
  for (const Setting& written : kSettings) {
    DbConfig writing = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"));
    written.apply(&writing);
    TestDb db(writing);
    for (uint64_t group = 0; group < 60; ++group) {
      for (uint64_t member = 0; member < 10; ++member) {
        db.Put(GroupKey(2 * group, 2 * member), std::string(30, 'v'));
      }
    }
    for (const std::string& key : AwkwardKeys()) db.Put(key, "awkward");
    db.Flush();

    for (const FilterShape reading_shape : {FilterShape::kFull, FilterShape::kPartitioned}) {
      for (const Setting& read : kSettings) {
        DbConfig reading = MakeConfig(reading_shape, PolicyFromString("blocksieve:0.01"));
        read.apply(&reading);
        db.Reopen(reading);
        const std::string which = std::string("written with ") + written.name + ", read with " +
                                  read.name + ", " + FilterShapeName(reading_shape);
        EXPECT_EQ(CheckReads(&db.db(), db.model(), absent), "") << which;
        if (reading.options.prefix_extractor != nullptr) {
          EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {}), "") << which;
        }
        rejected += db.Use().rejected;
      }
    }
  }
  EXPECT_GT(rejected, 0u);
}

// tests/PITFALLS.md, 19: the extractor changes while the database is open, and files written
// before and after are read together.
TEST_P(ChangedSettings, TheExtractorChangesWhileTheDatabaseIsOpen) {
  DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"));
  Prefix(&config, kGroupPrefixBytes, true);
  TestDb db(config);
  uint64_t group = 0;
  for (const char* extractor : {"rocksdb.FixedPrefix.3", "rocksdb.FixedPrefix.7", "nullptr",
                                "rocksdb.CappedPrefix.8", "rocksdb.FixedPrefix.6"}) {
    for (uint64_t i = 0; i < 20; ++i, ++group) {
      for (uint64_t member = 0; member < 10; ++member) {
        db.Put(GroupKey(2 * group, member), std::string(30, 'v'));
      }
    }
    db.Flush();
    MustBeOk(db->SetOptions({{"prefix_extractor", extractor}}), extractor);
    std::vector<std::string> absent;
    for (uint64_t i = 0; i < group; ++i) absent.push_back(GroupKey(2 * i + 1, 0));
    EXPECT_EQ(CheckReads(&db.db(), db.model(), absent), "") << extractor;
    if (db->GetOptions().prefix_extractor != nullptr) {
      EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {}), "") << extractor;
    }
  }
  EXPECT_GT(db.Use().rejected, 0u);
}

// tests/PITFALLS.md, 22: prefixes that differ in a zero byte alone are different.
TEST_P(ChangedSettings, PrefixesOneNulApart) {
  const std::string short_prefix = "ab";
  const std::string long_prefix = std::string("ab\0", 3);
  for (const size_t written : {2, 3}) {
    for (const size_t read : {2, 3}) {
      DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.001"));
      Prefix(&config, written, false);
      TestDb db(config);
      db.Put(short_prefix, "1");
      db.Put(long_prefix, "2");
      db.Put(long_prefix + "x", "3");
      db.Put("ac", "4");
      db.Put("acx", "5");
      db.Flush();
      Prefix(&config, read, false);
      db.Reopen(config);
      EXPECT_EQ(CheckReads(&db.db(), db.model(), {"aa", std::string("aa\0", 3), "aba"}), "");
      EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {}), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChangedSettings,
                         ::testing::Values(FilterShape::kFull, FilterShape::kPartitioned),
                         [](const auto& info) { return FilterShapeName(info.param); });

}  // namespace
}  // namespace blocksieve
