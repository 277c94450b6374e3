// SPDX-License-Identifier: Apache-2.0
#include "tests/support/key_sets.h"
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
  static DbConfig Config(const EnableOptions& policy, bool dynamic = false) {
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

  uint64_t next_ = 0;
};

TEST_P(LevelDatabasesTest, SmallLevelsArePreciseAndTheBudgetIsKept) {
  for (const bool dynamic : {false, true}) {
    TestDb db(Config({.bits_per_key = 10, .kind = FilterKind::kRibbon}, dynamic));
    Fill(&db, 30);
    const auto by_level = FiltersByLevel(&db.db());
    ASSERT_GE(by_level.size(), 3u);
    double above = 100;
    for (const auto& [level, filters] : by_level) {
      EXPECT_LT(filters.bits_per_key(), above) << "level " << level << ", dynamic " << dynamic;
      // After compactions, levels may have about the same size, and small partitions take more
      // memory than large ones.
      above = (GetParam() == FilterShape::kFull ? 1.05 : 1.1) * filters.bits_per_key();
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
