// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>

#include <utility>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/logs.h"

// The collector by itself, and readers of its properties.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using namespace rocksdb_plugin;       // NOLINT: what is tested

class SkipCollectorTest : public ::testing::Test {
 protected:
  SkipCollectorTest() : settings_{.index = ShortGranules({"n=int:field:1"}), .info_log = log_} {}

  std::unique_ptr<rocksdb::TablePropertiesCollector> NewCollector() {
    factory_ = NewCollectorFactory(settings_);
    return std::unique_ptr<rocksdb::TablePropertiesCollector>(
        factory_->CreateTablePropertiesCollector({}));
  }

  static void Add(rocksdb::TablePropertiesCollector* collector, const std::string& key,
                  const std::string& value, rocksdb::EntryType type = rocksdb::kEntryPut) {
    EXPECT_TRUE(collector->AddUserKey(key, value, type, 10, 0).ok());
  }

  static SstIndex Open(const rocksdb::UserCollectedProperties& user) {
    return SstIndex(MakeProperties(user, "", 0));
  }

  // The properties of a file.
  static std::shared_ptr<const rocksdb::TableProperties> MakeProperties(
      const rocksdb::UserCollectedProperties& user, const std::string& session, uint64_t number) {
    auto properties = std::make_shared<rocksdb::TableProperties>();
    properties->user_collected_properties = user;
    properties->db_session_id = session;
    properties->orig_file_number = number;
    return properties;
  }

  // The properties collected from `num_rows` rows.
  rocksdb::UserCollectedProperties Collect(uint64_t num_rows) {
    const auto collector = NewCollector();
    for (uint64_t i = 0; i < num_rows; ++i) Add(collector.get(), Key(i), std::to_string(i));
    rocksdb::UserCollectedProperties properties;
    EXPECT_TRUE(collector->Finish(&properties).ok());
    return properties;
  }

  std::shared_ptr<MemoryLogger> log_ = std::make_shared<MemoryLogger>();
  SkipIndexSettings settings_;
  std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> factory_;
};

TEST_F(SkipCollectorTest, TheIdentityTextContainsTheOptions) {
  settings_.index.columns = Columns({"n=int:field:1", "w=words:folded:2", "a=json:/a/b"});
  settings_.index.target_fpr = 0.0123;
  settings_.index.block_granules = true;
  settings_.value_suffix_bytes = 4;
  const std::string text = IdentityText(settings_);
  // With other bytes, the index of every file would seem to be of other options.
  EXPECT_EQ(text,
            "version=1\nblock_granules=true\ngranule_rows=4\ngranule_bytes=16384\n"
            "target_fpr=0.0123\nmax_index_bytes=8388608\nvalue_suffix_bytes=4\n"
            "n=int:1\nw=words:folded:2\na=json:/a/b\n");
  const std::optional<SkipIndexSettings> read = ReadIdentityText(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(IdentityText(*read), text);
  for (const std::string bad : {"", "version=2\n", "version=1\nblock_granules=maybe\n", "x"}) {
    EXPECT_FALSE(ReadIdentityText(bad)) << bad;
  }
  EXPECT_FALSE(ReadIdentityText(text + "no column\n"));
  EXPECT_FALSE(ReadIdentityText("version=1\nblock_granules=true\ngranule_rows=-1\n"));
}

TEST_F(SkipCollectorTest, BudgetsAreKeptAndReported) {
  for (const uint64_t budget : {2000u, 20u}) {
    settings_.index.max_index_bytes = budget;
    const auto collector = NewCollector();
    for (uint64_t i = 0; i < 2000; ++i) {
      Add(collector.get(), Key(i), std::to_string(i * 7919 % 100'000));
    }
    rocksdb::UserCollectedProperties properties;
    ASSERT_TRUE(collector->Finish(&properties).ok());
    if (properties.count(kIndexProperty) != 0) {
      EXPECT_LE(properties[kIndexProperty].size(), budget);
      EXPECT_EQ(Open(properties).index()->columns()[0].filters, PartState::kOverBudget);
      const std::string enough = "max_index_bytes=" + properties[kNeededProperty] + " keeps all";
      EXPECT_NE(log_->text().find(enough), std::string::npos) << log_->text();
    } else {
      EXPECT_NE(properties[kProblemProperty].find("max_index_bytes"), std::string::npos);
      EXPECT_NE(log_->text().find("no skip index"), std::string::npos);
    }
  }
}

// A foreign, newer or damaged index is no index. Any bytes: skip_properties_fuzz.
TEST_F(SkipCollectorTest, UnreadablePropertiesAreNoIndex) {
  using Properties = rocksdb::UserCollectedProperties;
  const Properties good = Collect(50);
  ASSERT_NE(Open(good).index(), nullptr);
  EXPECT_EQ(Open({}).problem(), "written without an index");
  for (void (*const damage)(Properties*) : {
           +[](Properties* bad) { bad->erase(kIndexProperty); },
           +[](Properties* bad) { bad->erase(kIdentityProperty); },
           +[](Properties* bad) { (*bad)[kIdentityProperty] = ""; },
           +[](Properties* bad) { (*bad)[kIdentityProperty].replace(0, 9, "version=2"); },
           +[](Properties* bad) { (*bad)[kIdentityProperty] += "no column\n"; },
           +[](Properties* bad) { (*bad)[kIndexProperty].back() ^= 4; },
       }) {
    Properties bad = good;
    damage(&bad);
    EXPECT_EQ(Open(bad).index(), nullptr);
    EXPECT_NE(Open(bad).problem(), "");
  }
}

TEST_F(SkipCollectorTest, TheCatalogOpensOnceAndKeepsItsCapacity) {
  const rocksdb::UserCollectedProperties user = Collect(500);
  const auto file = [&](const std::string& session, uint64_t number) {
    return MakeProperties(user, session, number);
  };
  const uint64_t one = SstIndex(file("s", 1)).memory_bytes();
  SkipIndexCatalog catalog(3 * one);
  const auto first = catalog.Open(file("s", 1));
  const auto second = catalog.Open(file("s", 2));
  const auto third = catalog.Open(file("s", 3));
  EXPECT_EQ(catalog.Open(file("s", 1)), first);
  // Files of an SstFileWriter all have number 1. This evicts the least recently used.
  EXPECT_NE(catalog.Open(file("t", 1)), first);
  EXPECT_LE(catalog.used_bytes(), 3 * one);
  EXPECT_EQ(catalog.Open(file("s", 1)), first);
  EXPECT_EQ(catalog.Open(file("s", 3)), third);
  EXPECT_NE(catalog.Open(file("s", 2)), second);
  EXPECT_NE(catalog.Open(file("", 0)), catalog.Open(file("", 0))) << "without an identity";
}

TEST_F(SkipCollectorTest, ACatalogChargesACacheForWhatItHolds) {
  const rocksdb::UserCollectedProperties user = Collect(2000);
  const auto file = [&](uint64_t number) { return MakeProperties(user, "s", number); };
  rocksdb::HyperClockCacheOptions clock(8 << 20, 256 << 10);
  for (const auto& cache : {rocksdb::NewLRUCache(8 << 20, 0), clock.MakeSharedCache()}) {
    SCOPED_TRACE(cache->Name());
    SkipIndexCatalog catalog(1 << 30);
    catalog.Configure(1 << 30, cache);
    const size_t before = cache->GetPinnedUsage();
    for (uint64_t number = 1; catalog.used_bytes() < 1 << 20; ++number) catalog.Open(file(number));
    EXPECT_GE(cache->GetPinnedUsage() - before, 1u << 20);
    EXPECT_LE(cache->GetPinnedUsage() - before, (1 << 20) + (600 << 10));
    catalog.Configure(1 << 30, nullptr);
    EXPECT_EQ(cache->GetPinnedUsage(), before);
  }
  // A full cache keeps indexes out.
  constexpr bool kStrict = true;
  SkipIndexCatalog catalog(1 << 30);
  catalog.Configure(1 << 30, rocksdb::NewLRUCache(300 << 10, 0, kStrict));
  for (uint64_t number = 1; number < 100; ++number) {
    EXPECT_NE(catalog.Open(file(number))->index(), nullptr);
    EXPECT_LE(catalog.used_bytes(), 256u << 10);
  }
  EXPECT_GT(catalog.used_bytes(), 0u);
}

// What option strings mean: option_strings_test.cc.
TEST(SkipIndexOptionsTest, OptionsFilesNameTheIndexAndReadBack) {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  // Delimiters and blanks with a meaning in option strings and OPTIONS files.
  const SkipIndexOptions same = ShortGranules(
      {"semi=field(;):2", "brace=field({)[}]:3", "hash=field(#)[%]:1", "bar=field(|)[=]:1",
       "back=field(\\\\):1", "x=json:/a b/c", " outer =json:/ x "});
  TestDb db(SkipConfig({same}));
  db.Put("a", "x");
  db.Flush();
  const StoredOptions stored(db.path());
  const auto& factories = stored.column_family().table_properties_collector_factories;
  ASSERT_EQ(factories.size(), 1u);
  EXPECT_EQ(factories[0]->ToString(), NewCollectorFactory({same})->ToString());
}

// Granules that are the table's data blocks.

class BlockGranulesTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kRows = 5000;
  static constexpr uint64_t kRowGranules = (kRows + kDefaultGranuleRows - 1) / kDefaultGranuleRows;

  static DbConfig Config(bool block_granules = true) {
    DbConfig config =
        SkipConfig({{.columns = Columns({"n=int:field:1"}), .block_granules = block_granules}});
    config.table.block_size = 4096;
    return config;
  }
};

TEST_F(BlockGranulesTest, AreBlocksWhoseEndsAreKnown) {
  const struct {
    const char* name;
    uint64_t row_bytes;
    bool block_granules;
    void (*change)(rocksdb::Options* options);
    std::pair<uint64_t, uint64_t> (*bounds)(uint64_t num_blocks);
  } cases[] = {
      {"blocks", 100, true, [](auto*) {},
       [](uint64_t blocks) { return std::pair(blocks, blocks); }},
      // Limits close granules in the first block, as the table may turn out to have no blocks.
      {"small rows", 10, true, [](auto*) {},
       [](uint64_t blocks) { return std::pair(blocks + 1, blocks + 3); }},
      {"rows on request", 100, false, [](auto*) {},
       [](uint64_t) { return std::pair(kRowGranules, kRowGranules); }},
      {"blocks that wait for a dictionary", 100, true,
       [](auto* options) {
         options->compression = rocksdb::kZSTD;
         options->compression_opts.max_dict_bytes = 16 << 10;
         options->compression_opts.zstd_max_train_bytes = 64 << 10;
         options->bottommost_compression_opts = options->compression_opts;
       },
       [](uint64_t) { return std::pair(kRowGranules, kRowGranules); }},
      // Then blocks are written some time after their rows were added.
      {"other threads compress", 100, true,
       [](auto* options) {
         options->compression = rocksdb::kZSTD;
         options->compression_opts.parallel_threads = 4;
       },
       [](uint64_t blocks) {
         return std::pair(kRows * 100 / (4 * kDefaultGranuleBytes), blocks + 4);
       }},
  };
  for (const auto& [name, row_bytes, block_granules, change, bounds] : cases) {
    SCOPED_TRACE(name);
    DbConfig config = Config(block_granules);
    change(&config.options);
    TestDb db(config);
    for (uint64_t i = 0; i < kRows; ++i) {
      std::string value = std::to_string(i) + "\t";
      value.resize(row_bytes, static_cast<char>('a' + i % 26));
      MustBeOk(db->Put({}, Key(i), value));
    }
    db.Flush();
    const auto files = FilesOf(db.db());
    ASSERT_EQ(files.size(), 1u);
    const SstIndex file(files.begin()->second);
    ASSERT_NE(file.index(), nullptr) << file.problem();
    const auto [least, most] = bounds(files.begin()->second->num_data_blocks);
    EXPECT_GE(file.index()->num_granules(), least);
    EXPECT_LE(file.index()->num_granules(), most);
  }
}

TEST_F(BlockGranulesTest, CountRowsInTablesWithoutBlocks) {
  rocksdb::Options options = Config().ToOptions();
  options.allow_mmap_reads = true;
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  options.table_factory.reset(rocksdb::NewPlainTableFactory());
  const TempDir dir;
  const std::string path = dir / "plain.sst";
  TestDb::Model rows;
  for (uint64_t i = 0; i < kRows; ++i) rows[Key(i)] = std::to_string(i);
  WriteSst(options, path, rows);
  rocksdb::SstFileReader reader(options);
  MustBeOk(reader.Open(path));
  const rocksdb_plugin::SstIndex file(reader.GetTableProperties());
  ASSERT_NE(file.index(), nullptr) << file.problem();
  EXPECT_EQ(file.index()->num_granules(), kRowGranules);
}

}  // namespace
}  // namespace blocksieve
