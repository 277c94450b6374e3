#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/new_policy.h"
#include "tests/support/test_db.h"

// Rates by level, in trees made by RocksDB's compactions.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

struct LevelFilters {
  uint64_t keys = 0;
  uint64_t filter_bytes = 0;

  double bits_per_key() const {
    return 8 * static_cast<double>(filter_bytes) / static_cast<double>(keys);
  }
};

std::map<int, LevelFilters> FiltersByLevel(rocksdb::DB* db) {
  const rocksdb::TablePropertiesCollection properties = FilesOf(*db);
  rocksdb::ColumnFamilyMetaData meta;
  db->GetColumnFamilyMetaData(&meta);
  std::map<int, LevelFilters> by_level;
  for (const auto& level : meta.levels) {
    for (const auto& file : level.files) {
      const auto& table = properties.at(file.db_path + file.name);
      by_level[level.level].keys += table->num_entries;
      by_level[level.level].filter_bytes += table->filter_size;
    }
  }
  return by_level;
}

double BitsPerKey(TestDb* db) {
  return LevelFilters{db->model().size(), db->FilterBytes()}.bits_per_key();
}

class LevelDatabasesTest : public ::testing::TestWithParam<FilterShape> {
 protected:
  static constexpr uint64_t kKeysPerFlush = 2000;

  // Level 1 is as large as four flushes.
  static DbConfig Config(const FilterPolicyOptions& policy, bool dynamic = false) {
    DbConfig config = MakeConfig(GetParam(), NewPolicy(policy));
    config.table.optimize_filters_for_memory = false;  // which rounds sizes
    config.options.disable_auto_compactions = false;
    config.options.level_compaction_dynamic_level_bytes = dynamic;
    config.options.max_bytes_for_level_multiplier = 4;
    config.options.max_bytes_for_level_base = 4 * kKeysPerFlush * 40;
    config.options.target_file_size_base = config.options.max_bytes_for_level_base;
    config.options.listeners = {NewListener()};
    return config;
  }

  // Every flush has keys of the whole range. After each flush, waits for all compactions.
  void Fill(TestDb* db, int flushes) {
    for (int flush = 0; flush < flushes; ++flush) {
      for (uint64_t i = 0; i < kKeysPerFlush; ++i) {
        // Neighbours are far apart.
        const uint64_t number = next_++ * 0x9e3779b97f4a7c15;
        db->Put(Key(number), "0123456789");
      }
      db->Flush();
      WaitForCompactions(&db->db());
    }
  }

  static std::string Key(uint64_t number) {
    return MakeKey(KeyShape::kCounter, number) + std::string(8, 'k');
  }

  static void WaitForCompactions(rocksdb::DB* db) {
    const auto value = [&](const std::string& property) {
      uint64_t number = 1;
      EXPECT_TRUE(db->GetIntProperty(property, &number));
      return number;
    };
    while (value(rocksdb::DB::Properties::kCompactionPending) != 0 ||
           value(rocksdb::DB::Properties::kNumRunningCompactions) != 0) {
      rocksdb::Env::Default()->SleepForMicroseconds(200);
    }
  }

  // Wasted data-block reads per lookup of an absent key.
  static double WastedReads(TestDb* db) {
    constexpr int kLookups = 100'000;
    db->ResetUse();
    const auto data_blocks = [&] {
      const rocksdb::Statistics& statistics = *db->db().GetDBOptions().statistics;
      return statistics.getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
             statistics.getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
    };
    std::string value;
    for (uint64_t i = 0; i < kLookups; ++i) {
      std::string key = Key(i * 0xd6e8feb86659fd93);
      key.back() = 'a';
      EXPECT_TRUE(db->db().Get({}, key, &value).IsNotFound());
    }
    return static_cast<double>(data_blocks()) / kLookups;
  }

  uint64_t next_ = 0;
};

TEST_P(LevelDatabasesTest, SmallLevelsArePreciseAndTheBudgetIsKept) {
  for (const bool dynamic : {false, true}) {
    TestDb db(Config({.bits_per_key = 10, .kind = PolicyKind::kRibbon}, dynamic));
    Fill(&db, 30);
    const auto by_level = FiltersByLevel(&db.db());
    ASSERT_GE(by_level.size(), 3u);
    double above = 100;
    for (const auto& [level, filters] : by_level) {
      EXPECT_LT(filters.bits_per_key(), above) << "level " << level << ", dynamic " << dynamic;
      // After compactions, levels may have about the same size, and small partitions take more
      // memory than large ones.
      above = (GetParam() == FilterShape::kFull ? 1.03 : 1.1) * filters.bits_per_key();
    }
    // Small filters, and even more so small partitions, take more than the table says. How many are
    // small, or on the precise level 0, depends on when compactions ran.
    std::string levels;
    for (const auto& [level, filters] : by_level) {
      levels += "level " + std::to_string(level) + ": " + std::to_string(filters.keys) +
                " keys at " + std::to_string(filters.bits_per_key()) + " bits\n";
    }
    EXPECT_LT(BitsPerKey(&db), GetParam() == FilterShape::kFull ? 11.0 : 13.0)
        << levels << "dynamic " << dynamic;
    EXPECT_GT(BitsPerKey(&db), 8.5);
    EXPECT_EQ(CheckReads(&db.db(), db.model(), {}), "");
  }
}

// Up to 1.5 times the goal if a level has just begun: until its files are rewritten, the level
// above has the rates of a last level.
TEST_P(LevelDatabasesTest, WastedReadsAreNearTheGoal) {
  for (const double asked : {0.3, 0.03}) {
    TestDb db(Config({.wasted_reads = asked, .kind = PolicyKind::kAuto}));
    Fill(&db, 31);
    const double measured = WastedReads(&db);
    EXPECT_LT(measured, 1.5 * asked);
    EXPECT_GT(measured, 0.5 * asked);
  }
}

TEST_P(LevelDatabasesTest, StockFiltersSpreadTheirBudgetToo) {
  TestDb by_level(Config({.bits_per_key = 8, .kind = PolicyKind::kStock}));
  Fill(&by_level, 31);
  next_ = 0;
  TestDb one_rate(Config({.target_fpr = 0.0078, .kind = PolicyKind::kStock}));
  Fill(&one_rate, 31);
  // A further bit would halve the reads.
  const double excess_bits = BitsPerKey(&by_level) - BitsPerKey(&one_rate);
  EXPECT_LT(WastedReads(&by_level) * std::exp2(excess_bits), 0.75 * WastedReads(&one_rate));
  EXPECT_LT(std::abs(excess_bits), 2);
  EXPECT_EQ(CheckReads(&by_level.db(), by_level.model(), {}), "");
}

TEST_P(LevelDatabasesTest, AscendingKeysMoveWithTheirFiltersAndStayWithinBounds) {
  TestDb db(Config({.bits_per_key = 10}));
  uint64_t number = 0;
  for (int flush = 0; flush < 20; ++flush) {
    for (uint64_t i = 0; i < kKeysPerFlush; ++i) db.Put(Key(number++ << 20), "0123456789");
    db.Flush();
    WaitForCompactions(&db.db());
  }
  EXPECT_LT(BitsPerKey(&db), 33);
  EXPECT_EQ(CheckReads(&db.db(), db.model(), {}), "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, LevelDatabasesTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
