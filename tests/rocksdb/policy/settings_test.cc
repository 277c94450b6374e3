// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/version.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// Every setting of RocksDB that affects filters, and changes while a database is open. Changes
// between openings: RandomDatabaseTest.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// The prefix up to the first '/', possibly empty. Keys without '/' are outside the domain.
class UpToSlash final : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "test.UpToSlash"; }
  bool InDomain(const rocksdb::Slice& key) const override {
    return key.ToStringView().find('/') != std::string_view::npos;
  }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), key.ToStringView().find('/')};
  }
};

struct Setting {
  const char* name;
  std::function<void(DbConfig*)> apply;
};

// The model draws others: model_settings.cc.
const Setting kFeatures[] = {
    {"WholeKeys", [](DbConfig*) {}},
    // tests/PITFALLS.md, 4: entries k, p, k, p. And 18: AwkwardKeys has keys outside the domain.
    {"WholeKeysAndPrefixes", [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes); }},
    {"StockKind",
     [](DbConfig* config) {
       config->table.filter_policy = PolicyFromString("{id=blocksieve;kind=stock}");
     }},
    {"HighTarget",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:0.5"); }},
    // tests/PITFALLS.md, 1: an empty prefix; and 18.
    {"PrefixesThatMayBeEmpty",
     [](DbConfig* config) { config->options.prefix_extractor = std::make_shared<UpToSlash>(); }},
    {"OnlyPrefixesThatMayBeEmpty",
     [](DbConfig* config) {
       config->options.prefix_extractor = std::make_shared<UpToSlash>();
       config->table.whole_key_filtering = false;
     }},
    // tests/PITFALLS.md, 20.
    {"ReverseComparatorAndPrefixes",
     [](DbConfig* config) {
       UsePrefixes(config, kGroupPrefixBytes);
       config->options.comparator = rocksdb::ReverseBytewiseComparator();
     }},
    // The level that a filter is built for is unknown, or means something else.
    {"UniversalCompactionOfOneLevel",
     [](DbConfig* config) {
       config->options.compaction_style = rocksdb::kCompactionStyleUniversal;
       config->options.num_levels = 1;
     }},
    {"FifoCompaction",
     [](DbConfig* config) { config->options.compaction_style = rocksdb::kCompactionStyleFIFO; }},
    {"LowTarget",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:1e-6"); }},
};

// One workload under every setting: every key is found, and filters reject absent keys.
class FilterFeatureTest : public ::testing::TestWithParam<std::tuple<Setting, FilterShape>> {
 protected:
  static constexpr uint64_t kGroups = 150;
  static constexpr uint64_t kMembers = 8;

  FilterFeatureTest() {
    // Groups with even numbers are present, but no key directly after each of theirs.
    for (const std::string& key : GroupKeys(0, kGroups, kMembers)) absent_.push_back(key + "+");
    absent_.push_back("0");
    absent_.push_back("zzz/zzz");
  }

  void WriteRound(TestDb* db, uint64_t round) const {
    const std::string value = "value of round " + std::to_string(round) + std::string(50, '.');
    uint64_t number = 0;
    for (const std::string& key : GroupKeys(0, kGroups, kMembers)) {
      if (number % 3 == round || number % 7 == 0) db->Put(key, value);
      if (round == 2 && number % 11 == 0) db->Delete(key);
      ++number;
    }
    size_t i = 0;
    for (const std::string& key : AwkwardKeys()) {
      if (i++ % 3 == round || round == 2) db->Put(key, value);
    }
    db->Flush();
  }

  std::string Check(TestDb* db, const DbConfig& config) const {
    if (std::string wrong = CheckReads(&db->db(), db->model(), absent_); !wrong.empty()) {
      return wrong;
    }
    if (config.options.prefix_extractor == nullptr) return "";
    return CheckPrefixScans(&db->db(), db->model(), GroupKeys(1, kGroups, 1));
  }

  std::vector<std::string> absent_ = GroupKeys(1, kGroups, kMembers);
};

TEST_P(FilterFeatureTest, EveryKeyIsFoundAndAbsentOnesAreRejected) {
  const auto& [feature, shape] = GetParam();
  DbConfig config = MakeConfig(shape, PolicyFromString("blocksieve:0.01"));
  feature.apply(&config);
  TestDb db(config);
  for (uint64_t round = 0; round < 3; ++round) WriteRound(&db, round);

  EXPECT_EQ(Check(&db, config), "") << "in three overlapping files";
  EXPECT_GT(db.Use().all_rejected(), 0u);
  if (config.options.prefix_extractor != nullptr) {
    EXPECT_GT(db.Use().prefix_checked, 0u);
    EXPECT_GT(db.Use().prefix_rejected, 0u);
  }

  // tests/PITFALLS.md, 25: a compaction must not use filters.
  db.Compact();
  db.ResetUse();
  EXPECT_EQ(Check(&db, config), "") << "after compaction";
  EXPECT_GT(db.Use().all_rejected(), 0u);

  db.Put(GroupKey(2 * kGroups, 0), "in the log");  // written to a file by the recovery
  db.Reopen(config);
  EXPECT_EQ(Check(&db, config), "") << "after opening it again";
  EXPECT_EQ(db.FilterPolicyNames(), std::set<std::string>{"blocksieve"});
  EXPECT_TRUE(db->VerifyChecksum().ok());
}

INSTANTIATE_TEST_SUITE_P(Features, FilterFeatureTest,
                         ::testing::Combine(::testing::ValuesIn(kFeatures), kBothShapes),
                         ParamNames());

class ChangedSettingsTest : public ::testing::TestWithParam<FilterShape> {};

// tests/PITFALLS.md, 19: the extractor changes while the database is open, and files written
// before and after are read together.
TEST_P(ChangedSettingsTest, TheExtractorChangesWhileTheDatabaseIsOpen) {
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

// As in the README: for new files from RocksDB 9.8 on, before that not at all.
TEST_P(ChangedSettingsTest, ThePolicyChangesWhileTheDatabaseIsOpen) {
  constexpr bool kIsChangeable = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 908;
  TestDb db(MakeConfig(GetParam(), PolicyFromString("{id=blocksieve;wasted_reads=0.03}")));
  struct Step {
    std::string policy;
    std::string target_fpr;  // the expected one
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

// tests/PITFALLS.md, 13.
TEST_P(ChangedSettingsTest, AFilterThatIsNotInTheCacheIsNotANo) {
  DbConfig config = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01"));
  config.table.cache_index_and_filter_blocks = true;
  config.table.block_cache = rocksdb::NewLRUCache(1 << 20);
  TestDb db(config);
  db.Fill(GroupKeys(0, 400, 10));
  rocksdb::ReadOptions cached_only;
  cached_only.read_tier = rocksdb::kBlockCacheTier;
  for (const bool warm : {false, true}) {
    if (warm) {
      EXPECT_EQ(CheckReads(&db.db(), db.model(), GroupKeys(1, 400, 10)), "");
    } else {
      config.table.block_cache->EraseUnRefEntries();
    }
    uint64_t unknown = 0;
    for (const auto& [key, value] : db.model()) {
      std::string found;
      const rocksdb::Status status = db->Get(cached_only, key, &found);
      ASSERT_TRUE(status.ok() || status.IsIncomplete()) << status.ToString();
      unknown += status.IsIncomplete();
      bool value_found = false;
      ASSERT_TRUE(db->KeyMayExist({}, key, &found, &value_found));
    }
    EXPECT_EQ(unknown == 0, warm);
  }
  EXPECT_GT(db.Use().rejected, 0u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChangedSettingsTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
