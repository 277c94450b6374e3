#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <functional>
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

const Setting kSettings[] = {
    {"whole keys", [](DbConfig*) {}},
    {"another target",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:0.2"); }},
    {"prefixes", [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes, false); }},
    {"both", [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes, true); }},
    {"shorter prefixes", [](DbConfig* config) { UsePrefixes(config, 3, true); }},
    {"shorter prefixes only", [](DbConfig* config) { UsePrefixes(config, 3, false); }},
    // One byte more than a group's prefix: the '/' after it (22).
    {"longer prefixes only",
     [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes + 1, false); }},
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
  std::vector<std::string> absent = GroupKeys(1, 60, 1);
  for (uint64_t group = 0; group < 60; ++group) absent.push_back(GroupKey(2 * group, 1) + "+");
  uint64_t rejected = 0;
  for (const Setting& written : kSettings) {
    DbConfig writing = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"));
    written.apply(&writing);
    TestDb db(writing);
    db.PutAll(GroupKeys(0, 60, 10), std::string(30, 'v'));
    db.Fill(AwkwardKeys(), "awkward");

    for (const FilterShape reading_shape : {FilterShape::kFull, FilterShape::kPartitioned}) {
      for (const Setting& read : kSettings) {
        DbConfig reading = MakeConfig(reading_shape, PolicyFromString("blocksieve:0.01"));
        read.apply(&reading);
        db.Reopen(reading);
        const std::string which = std::string("written with ") + written.name + ", read with " +
                                  read.name + ", " + NameOf(reading_shape);
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
  UsePrefixes(&config, kGroupPrefixBytes, true);
  TestDb db(config);
  uint64_t groups = 0;
  for (const char* extractor : {"rocksdb.FixedPrefix.3", "rocksdb.FixedPrefix.7", "nullptr",
                                "rocksdb.CappedPrefix.8", "rocksdb.FixedPrefix.6"}) {
    db.Fill(GroupKeys(2 * groups, 20, 10), std::string(30, 'v'));
    groups += 20;
    MustBeOk(db->SetOptions({{"prefix_extractor", extractor}}), extractor);
    EXPECT_EQ(CheckReads(&db.db(), db.model(), GroupKeys(1, groups, 1)), "") << extractor;
    if (db->GetOptions().prefix_extractor != nullptr) {
      EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {}), "") << extractor;
    }
  }
  EXPECT_GT(db.Use().rejected, 0u);
}

// As the README has it: from 9.8 on for new files, before not at all.
TEST_P(ChangedSettings, ThePolicyChangesWhileTheDatabaseIsOpen) {
  constexpr bool kIsChangeable = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 908;
  TestDb db(MakeConfig(GetParam(), PolicyFromString("{id=blocksieve;wasted_reads=0.03}")));
  struct Step {
    std::string policy;
    std::string target_fpr;  // then in force
    std::string wasted_reads;
  };
  uint64_t groups = 0;
  for (const Step& step : {Step{"blocksieve:0.02", "0.02", ""},
                           Step{"{id=blocksieve;wasted_reads=0.01;target_fpr=none}", "", "0.01"},
                           Step{"{id=blocksieve;target_fpr=0.2;wasted_reads=none}", "0.2", ""}}) {
    db.Fill(GroupKeys(2 * groups, 20, 10), std::string(30, 'v'));
    groups += 20;
    const rocksdb::Status status =
        db->SetOptions({{"block_based_table_factory", "{filter_policy=" + step.policy + "}"}});
    if (kIsChangeable) {
      MustBeOk(status, step.policy);
    } else {
      EXPECT_NE(status.ToString().find("Option not changeable"), std::string::npos)
          << status.ToString();
    }
    const auto factory = db->GetOptions().table_factory;
    const auto* const table = factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    ASSERT_NE(table, nullptr);
    const auto option = [&](const char* name) {
      std::string value;
      EXPECT_TRUE(table->filter_policy->GetOption({}, name, &value).ok()) << name;
      return value;
    };
    EXPECT_EQ(option("target_fpr"), kIsChangeable ? step.target_fpr : "") << step.policy;
    EXPECT_EQ(option("wasted_reads"), kIsChangeable ? step.wasted_reads : "0.03") << step.policy;
    EXPECT_EQ(CheckReads(&db.db(), db.model(), GroupKeys(1, groups, 1)), "") << step.policy;
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
      UsePrefixes(&config, written, false);
      TestDb db(config);
      db.Put(short_prefix, "1");
      db.Put(long_prefix, "2");
      db.Put(long_prefix + "x", "3");
      db.Put("ac", "4");
      db.Put("acx", "5");
      db.Flush();
      UsePrefixes(&config, read, false);
      db.Reopen(config);
      EXPECT_EQ(CheckReads(&db.db(), db.model(), {"aa", std::string("aa\0", 3), "aba"}), "");
      EXPECT_EQ(CheckPrefixScans(&db.db(), db.model(), {}), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChangedSettings, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
