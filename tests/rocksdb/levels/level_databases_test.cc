// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/sst_file_writer.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "blocksieve/rocksdb.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/support/environment.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// Filters of databases that grow: filter_memory, a ceiling for them, and rates by level.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::HasSubstr;

struct Case {
  const char* name;
  EnableOptions features;
  FilterShape shape = FilterShape::kFull;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr uint64_t kKeysPerFlush = 2000;

DbConfig Config(const EnableOptions& features, FilterShape shape = FilterShape::kFull) {
  DbConfig config = MakeConfig(shape, nullptr);
  config.table.optimize_filters_for_memory = false;
  config.options.disable_auto_compactions = false;
  config.options.max_bytes_for_level_multiplier = 4;
  config.options.max_bytes_for_level_base = 4 * kKeysPerFlush * 40;
  config.options.target_file_size_base = config.options.max_bytes_for_level_base;
  UseFeatures(features, &config);
  return config;
}

std::string Key(uint64_t number) {
  return MakeKey(KeyShape::kCounter, number * 0x9e3779b97f4a7c15) + std::string(8, 'k');
}

// A database with several column families.
class Families {
 public:
  Families(const std::string& path, const DbConfig& config, size_t count)
      : path_(path), config_(config), count_(count) {
    Open();
  }
  ~Families() { Close(); }

  void Open() {
    rocksdb::Options options = config_.ToOptions();
    options.create_if_missing = options.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (size_t i = 0; i < count_; ++i)
      families.emplace_back(i == 0 ? "default" : "f" + std::to_string(i), options);
    MustBeOk(rocksdb_plugin::OpenDb(&db_, [&](auto* opened) {
      return rocksdb::DB::Open(options, path_, families, &handles_, opened);
    }));
  }
  void Close() {
    for (auto* handle : handles_) MustBeOk(db_->DestroyColumnFamilyHandle(handle));
    handles_.clear();
    db_.reset();
  }

  rocksdb::DB* db() { return db_.get(); }
  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const { return handles_; }

  std::vector<std::string> Files() {
    std::vector<rocksdb::LiveFileMetaData> live;
    db_->GetLiveFilesMetaData(&live);
    std::vector<std::string> names;
    for (const auto& file : live) names.push_back(file.name);
    return names;
  }

  // Of the files of all families at one moment.
  uint64_t FilterBytes() {
    for (;;) {
      std::vector<rocksdb::ColumnFamilyMetaData> now;
      db_->GetAllColumnFamilyMetaData(&now);
      uint64_t sum = 0;
      bool is_known = true;
      for (const auto& family : now) {
        for (const auto& level : family.levels) {
          for (const auto& file : level.files) {
            const auto known = filter_bytes_.find(file.file_number);
            is_known &= known != filter_bytes_.end();
            if (is_known) sum += known->second;
          }
        }
      }
      if (is_known) return sum;
      for (auto* handle : handles_) {
        rocksdb::TablePropertiesCollection files;
        MustBeOk(db_->GetPropertiesOfAllTables(handle, &files));
        for (const auto& [path, properties] : files) {
          const auto& user = properties->user_collected_properties;
          const auto index = user.find("blocksieve.block_index.bytes");
          filter_bytes_[std::stoull(path.substr(path.rfind('/') + 1))] =
              properties->filter_size + (index == user.end() ? 0 : std::stoull(index->second));
        }
      }
    }
  }

  void Add(size_t family, uint64_t num_keys) {
    for (uint64_t i = 0; i < num_keys; ++i)
      MustBeOk(db_->Put({}, handles_[family], Key(next_++), "0123456789"));
    MustBeOk(db_->Flush({}, handles_[family]));
  }
  void Wait() {
    for (auto* handle : handles_) WaitForCompactions(db_.get(), handle);
  }
  void CompactAll() {
    for (auto* handle : handles_) {
      rocksdb::CompactRangeOptions all;
      all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
      MustBeOk(db_->CompactRange(all, handle, nullptr, nullptr));
    }
  }

 private:
  const std::string path_;
  const DbConfig config_;
  const size_t count_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::unique_ptr<rocksdb::DB> db_;
  uint64_t next_ = 0;
  std::map<uint64_t, uint64_t> filter_bytes_;  // by file
};

// "Always may match".
constexpr uint64_t FilterBytesOfNone() { return kZeroTailBytes + 1; }

class FilterBudgetTest : public ::testing::TestWithParam<Case> {};

// The first file may find the room that later ones leave only in the next call.
void ExpectRewritingEnds(Families* families) {
  std::vector<std::string> files;
  for (int call = 0; call < 3; ++call) {
    files = families->Files();
    MustBeOk(RewriteFilters(families->db(), {families->handles()[0]}));
  }
  EXPECT_EQ(families->Files(), files);
}

TEST_P(FilterBudgetTest, IsKeptWhileFamiliesGrow) {
  const uint64_t start = LongTests() ? 1'000'000 : 10'000;
  const uint64_t ceiling = start * 10;  // of which the growth makes 4 bits per key
  EnableOptions features = GetParam().features;
  features.filter_memory = ceiling;
  features.budget = "node";
  const TempDir dir;
  Families families(dir / "db", Config(features, GetParam().shape), 3);
  uint64_t most = 0;
  for (const bool is_reopened : {false, true}) {
    std::atomic<bool> stops = false;
    std::thread sampler([&] {
      while (!stops) {
        most = std::max(most, families.FilterBytes());
        std::this_thread::sleep_for(std::chrono::milliseconds(LongTests() ? 100 : 5));
      }
    });
    for (int round = 0; round < 50; ++round) {
      families.Add(0, start / 5 / 10 * 8);
      families.Add(1, start / 5 / 10);
      families.Add(2, start / 5 / 10);
    }
    families.Wait();
    stops = true;
    sampler.join();
    if (is_reopened) break;
    families.Close();
    families.Open();
  }
  // The index of partitions has entries for those without a filter, which here have 512 bytes.
  const uint64_t slack = GetParam().shape == FilterShape::kPartitioned ? ceiling / 10 : 0;
  EXPECT_LE(most, ceiling + slack);
  EXPECT_GE(most, ceiling * 9 / 10);
  families.CompactAll();
  EXPECT_GE(families.FilterBytes(), ceiling * 8 / 10);
  EXPECT_LE(families.FilterBytes(), ceiling);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FilterBudgetTest,
    ::testing::Values(Case{"Auto", {}}, Case{"Bloom", {.kind = FilterKind::kBlockedBloom}},
                      Case{"Stock", {.kind = FilterKind::kStock}},
                      Case{"Ranges", {.ranges = true, .carrier = Carrier::kFilterAndSidecar}},
                      Case{"Partitions", {}, FilterShape::kPartitioned}),
    ParamNames());

#if BLOCKSIEVE_HAS_USER_INDEX
INSTANTIATE_TEST_SUITE_P(BlockIndexes, FilterBudgetTest,
                         ::testing::Values(Case{
                             "Columns", {.columns = {"v=value"}, .carrier = Carrier::kBlockIndex}}),
                         ParamNames());

// Files without a block index are read as a whole, and not rewritten again and again.
TEST(FilterBudgetReopenTest, ABlockIndexWithoutRoomIsLeftOut) {
  const TempDir dir;
  Families families(
      dir / "db",
      Config({.filter_memory = 2000, .columns = {"v=value"}, .carrier = Carrier::kBlockIndex}), 1);
  for (int i = 0; i < 5; ++i) families.Add(0, 2000);
  families.Wait();
  EXPECT_LE(families.FilterBytes(), 2000u);
  std::unique_ptr<rocksdb::Iterator> iterator;
  MustBeOk(NewIterator(families.db(), nullptr, "v = '0123456789'", {}, &iterator));
  uint64_t num_rows = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++num_rows;
  EXPECT_EQ(num_rows, 10'000u);
  iterator.reset();
  ExpectRewritingEnds(&families);
}
#endif

// Files that are too large stay until compactions or RewriteFilters replace them.
TEST(FilterBudgetReopenTest, ALowerCeilingIsReachedByRewriting) {
  const TempDir dir;
  {
    Families before(dir / "db", Config({.bits_per_key = 10}), 1);
    for (int i = 0; i < 10; ++i) before.Add(0, 10'000);
    before.Wait();
    EXPECT_GT(before.FilterBytes(), 100'000u);
  }
  DbConfig config = Config({.filter_memory = 40'000});
  const auto log = std::make_shared<MemoryLogger>();
  config.options.info_log = log;
  config.options.disable_auto_compactions = true;
  Families families(dir / "db", config, 1);
  const uint64_t before = families.FilterBytes();
  families.Add(0, 1000);
  EXPECT_EQ(families.FilterBytes(), before + FilterBytesOfNone()) << "there is no room";
  EXPECT_EQ(CountOf(log->text(), "more than filter_memory=40000"), 1u);
  EXPECT_EQ(CountOf(log->text(), "filter_memory leaves no room"), 1u);
  MustBeOk(RewriteFilters(families.db(), {families.handles()[0]}));
  EXPECT_LE(families.FilterBytes(), 40'000u);
  EXPECT_GE(families.FilterBytes(), 30'000u);
  ExpectRewritingEnds(&families);
}

// Not even an index of their partitions, which would add up.
TEST(FilterBudgetReopenTest, FilesWithoutRoomHaveNoFilter) {
  const TempDir dir;
  DbConfig config = Config({.filter_memory = 2000}, FilterShape::kPartitioned);
  config.options.disable_auto_compactions = true;
  Families families(dir / "db", config, 1);
  for (int i = 0; i < 20; ++i) families.Add(0, 500);
  EXPECT_LE(families.FilterBytes(), 2000u);
  EXPECT_GE(families.FilterBytes(), 500u);
}

// Also those of levels that share what is short.
TEST(FilterBudgetReopenTest, FilesOfAllLevelsHavePartitionsWhereThereIsRoom) {
  const TempDir dir;
  Families families(dir / "db", Config({.filter_memory = 60'000}, FilterShape::kPartitioned), 1);
  for (int i = 0; i < 50; ++i) families.Add(0, kKeysPerFlush);
  families.Wait();
  rocksdb::TablePropertiesCollection files;
  MustBeOk(families.db()->GetPropertiesOfAllTables(&files));
  EXPECT_GT(files.size(), 5u);
  for (const auto& [path, properties] : files) EXPECT_GT(properties->filter_size, 0u) << path;
  EXPECT_LE(families.FilterBytes(), 60'000u);
}

// Of whose files no account knows. Each would exceed the ceiling a little further.
TEST(FilterBudgetReopenTest, RecoveriesBuildNoFilters) {
  const TempDir dir;
  Families families(dir / "db", Config({.filter_memory = 1'000'000}), 1);
  MustBeOk(families.db()->Put({}, Key(0), "0123456789"));
  families.Close();
  families.Open();
  EXPECT_EQ(families.Files().size(), 1u);
  EXPECT_EQ(families.FilterBytes(), 0u);
  families.CompactAll();
  EXPECT_GT(families.FilterBytes(), 0u);
}

// Nobody reads a file from outside before it is there.
TEST(FilterBudgetReopenTest, IngestedFilesCount) {
  const TempDir dir;
  DbConfig config = Config({.filter_memory = 20'000});
  const auto log = std::make_shared<MemoryLogger>();
  config.options.info_log = log;
  Families families(dir / "db", config, 1);
  families.Add(0, 1000);
  const rocksdb::Options options = Config({.target_fpr = 0.001}).ToOptions();
  rocksdb::SstFileWriter writer({}, options);
  MustBeOk(writer.Open(dir / "sst"));
  for (int i = 0; i < 20'000; ++i) MustBeOk(writer.Put("x" + std::to_string(100'000 + i), "value"));
  MustBeOk(writer.Finish());
  MustBeOk(families.db()->IngestExternalFile({dir / "sst"}, {}));
  families.Add(0, 1000);
  EXPECT_EQ(CountOf(log->text(), "files came from outside or from recoveries"), 1u);
}

TEST(FilterBudgetReopenTest, DatabasesShareAndGiveBack) {
  const TempDir dir;
  const auto metric = [](Families* families, const std::string& name) {
    std::vector<FilterMetric> metrics;
    MustBeOk(GetFilterMetrics(families->db(), {}, &metrics));
    for (const FilterMetric& one : metrics) {
      if (one.name == "blocksieve_filter_memory_" + name + "_bytes") return one.value;
    }
    return 0.0;
  };
  DbConfig config = Config({.filter_memory = 100'000, .budget = "shared"});
  Families first(dir / "first", config, 1);
  first.Add(0, 5000);
  EXPECT_EQ(metric(&first, "limit"), 100'000);
  EXPECT_NEAR(metric(&first, "share"), 98'000, 1);
  EXPECT_GE(metric(&first, "used"), static_cast<double>(first.FilterBytes()));
  const auto log = std::make_shared<MemoryLogger>();
  {
    DbConfig smaller = Config({.filter_memory = 80'000, .budget = "shared"});
    smaller.options.info_log = log;
    Families second(dir / "second", smaller, 1);
    second.Add(0, 5000);
    second.Add(0, 5000);
    EXPECT_EQ(metric(&first, "limit"), 80'000);
    EXPECT_LT(metric(&second, "share"), 78'400);
    EXPECT_EQ(CountOf(log->text(), "has filter_memory=80000 and 100000; the smaller holds"), 1u);
  }
  first.Add(0, 5000);
  EXPECT_EQ(metric(&first, "limit"), 100'000);
}

TEST(FilterBudgetOptionsTest, AreRefusedWhereTheyCannotHold) {
  rocksdb::Options options;
  EXPECT_THAT(Enable(&options, {.bits_per_key = 10, .filter_memory = 1000}).ToString(),
              HasSubstr("filter_memory"));
  EXPECT_THAT(Enable(&options, {.bits_per_key = 10, .budget = "node"}).ToString(),
              HasSubstr("budget"));
  EXPECT_THAT(Enable(&options, {.filter_memory = 0}).ToString(), HasSubstr("1 to "));
  EXPECT_THAT(Enable(&options, {.filter_memory = 1000, .budget = "a b"}).ToString(),
              HasSubstr("1 to 64 of the characters"));
  rocksdb::ColumnFamilyOptions alone;
  EXPECT_THAT(Enable(&alone, {.filter_memory = 1000}).ToString(), HasSubstr("filter_memory"));
  const TempDir dir;
  DbConfig config = MakeConfig(FilterShape::kFull,
                               PolicyFromString("{id=blocksieve;filter_memory=2GiB;budget=node}"));
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status opened = rocksdb_plugin::OpenDb(&db, [&](auto* pointer) {
    return rocksdb::DB::Open(config.ToOptions(), dir / "db", pointer);
  });
  EXPECT_THAT(opened.ToString(), HasSubstr("filter_memory is 2147483648; allowed: none, unless"));
}

// Rates by level.

double BitsPerKey(TestDb* db) { return 8 * Ratio(db->FilterBytes(), db->model().size()); }

class LevelDatabasesTest : public ::testing::TestWithParam<FilterShape> {
 protected:
  // Writes a file of keys of the whole range, or ascending ones, and waits for compactions.
  void Flush(TestDb* db, bool is_ascending = false) {
    for (uint64_t i = 0; i < kKeysPerFlush; ++i, ++next_) {
      db->Put(is_ascending ? MakeKey(KeyShape::kCounter, next_ << 20) + "kkkkkkkk" : Key(next_),
              "0123456789");
    }
    db->Flush();
    WaitForCompactions(&db->db());
  }

  uint64_t next_ = 0;
};

TEST_P(LevelDatabasesTest, SmallLevelsArePreciseAndTheBudgetIsKept) {
  for (const bool dynamic : {false, true}) {
    SCOPED_TRACE(dynamic);
    DbConfig config = Config({.bits_per_key = 10, .kind = FilterKind::kRibbon}, GetParam());
    config.options.level_compaction_dynamic_level_bytes = dynamic;
    TestDb db(config);
    for (int flush = 0; flush < 30; ++flush) Flush(&db);
    const rocksdb::TablePropertiesCollection properties = FilesOf(db.db());
    rocksdb::ColumnFamilyMetaData tree;
    db->GetColumnFamilyMetaData(&tree);
    size_t num_levels = 0;
    double above = 100;
    for (const auto& level : tree.levels) {
      uint64_t keys = 0;
      uint64_t filter_bytes = 0;
      for (const auto& file : level.files) {
        const auto& table = properties.at(file.db_path + file.name);
        keys += table->num_entries;
        filter_bytes += table->filter_size;
      }
      if (keys == 0) continue;
      ++num_levels;
      const double bits = 8 * Ratio(filter_bytes, keys);
      EXPECT_LT(bits, above) << "level " << level.level;
      // After compactions, levels may have about the same size, and small partitions take more
      // memory than large ones.
      above = (GetParam() == FilterShape::kFull ? 1.05 : 1.1) * bits;
    }
    EXPECT_GE(num_levels, 3u);
    // Small filters, and even more so small partitions, take more than the table says. How many are
    // small, or on the precise level 0, depends on when compactions ran.
    EXPECT_LT(BitsPerKey(&db), GetParam() == FilterShape::kFull ? 11.0 : 13.0);
    EXPECT_GT(BitsPerKey(&db), 8.5);
    EXPECT_EQ(CheckReads(&db.db(), db.model(), {}), "");
  }
}

TEST_P(LevelDatabasesTest, AscendingKeysMoveWithTheirFiltersAndStayWithinBounds) {
  TestDb db(Config({.bits_per_key = 10}, GetParam()));
  for (int flush = 0; flush < 20; ++flush) Flush(&db, /*is_ascending=*/true);
  EXPECT_LT(BitsPerKey(&db), 33);
  EXPECT_EQ(CheckReads(&db.db(), db.model(), {}), "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, LevelDatabasesTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
