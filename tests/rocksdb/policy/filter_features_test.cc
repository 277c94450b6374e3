#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/slice_transform.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// One workload under every feature of RocksDB that meets a filter, full and partitioned: every key
// is found, and filters were of use.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// Up to the first '/': empty for keys that begin with it. Keys without are outside the domain.
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

struct Feature {
  const char* name;
  std::function<void(DbConfig*)> apply;
};

const Feature kFeatures[] = {
    {"WholeKeys", [](DbConfig*) {}},
    // tests/PITFALLS.md, 4: entries k, p, k, p. And 18: AwkwardKeys has keys outside the domain.
    {"WholeKeysAndPrefixes", [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes); }},
    {"PrefixesOnly", [](DbConfig* config) { UsePrefixes(config, kGroupPrefixBytes, false); }},
    // tests/PITFALLS.md, 1: an empty prefix; and 18.
    {"PrefixesThatMayBeEmpty",
     [](DbConfig* config) { config->options.prefix_extractor = std::make_shared<UpToSlash>(); }},
    {"OnlyPrefixesThatMayBeEmpty",
     [](DbConfig* config) {
       config->options.prefix_extractor = std::make_shared<UpToSlash>();
       config->table.whole_key_filtering = false;
     }},
    // tests/PITFALLS.md, 20.
    {"ReverseComparator",
     [](DbConfig* config) { config->options.comparator = rocksdb::ReverseBytewiseComparator(); }},
    {"ReverseComparatorAndPrefixes",
     [](DbConfig* config) {
       UsePrefixes(config, kGroupPrefixBytes);
       config->options.comparator = rocksdb::ReverseBytewiseComparator();
     }},
    {"OptimizedForMemory",
     [](DbConfig* config) { config->table.optimize_filters_for_memory = true; }},
    {"DetectingConstructCorruption",
     [](DbConfig* config) {
       UsePrefixes(config, kGroupPrefixBytes);
       config->table.detect_filter_construct_corruption = true;
     }},
    // AddKey and Finish run on different threads.
    {"ParallelCompression",
     [](DbConfig* config) {
       config->options.compression = rocksdb::kLZ4Compression;
       config->options.compression_opts.parallel_threads = 4;
     }},
    {"ParallelCompressionWithPrefixesVerified",
     [](DbConfig* config) {
       UsePrefixes(config, kGroupPrefixBytes);
       config->options.compression = rocksdb::kZSTD;
       config->options.compression_opts.parallel_threads = 3;
       config->table.detect_filter_construct_corruption = true;
       config->table.optimize_filters_for_memory = true;
     }},
    // A reader is made for every probe, on unaligned contents.
    {"MmapReads", [](DbConfig* config) { config->options.allow_mmap_reads = true; }},
    {"FiltersInATinyCache",
     [](DbConfig* config) {
       config->table.cache_index_and_filter_blocks = true;
       config->table.block_cache = rocksdb::NewLRUCache(4096, 0);
     }},
    {"FiltersPinnedInTheCache",
     [](DbConfig* config) {
       config->table.cache_index_and_filter_blocks = true;
       config->table.pin_l0_filter_and_index_blocks_in_cache = true;
     }},
    {"NoBlockCache",
     [](DbConfig* config) {
       config->table.no_block_cache = true;
       config->table.cache_index_and_filter_blocks = false;
     }},
    {"FormatVersionTwo", [](DbConfig* config) { config->table.format_version = 2; }},
    {"MemtableFilterToo",
     [](DbConfig* config) {
       UsePrefixes(config, kGroupPrefixBytes);
       config->options.memtable_prefix_bloom_size_ratio = 0.1;
       config->options.memtable_whole_key_filtering = true;
     }},
    // The level that a filter is built for is unknown, or means something else.
    {"UniversalCompaction",
     [](DbConfig* config) {
       config->options.compaction_style = rocksdb::kCompactionStyleUniversal;
     }},
    {"UniversalCompactionOfOneLevel",
     [](DbConfig* config) {
       config->options.compaction_style = rocksdb::kCompactionStyleUniversal;
       config->options.num_levels = 1;
     }},
    {"FifoCompaction",
     [](DbConfig* config) { config->options.compaction_style = rocksdb::kCompactionStyleFIFO; }},
    {"DynamicLevels",
     [](DbConfig* config) { config->options.level_compaction_dynamic_level_bytes = true; }},
    {"ValuesInBlobFiles",
     [](DbConfig* config) {
       config->options.enable_blob_files = true;
       config->options.min_blob_size = 10;
     }},
    {"OneKeyPerBlock", [](DbConfig* config) { config->table.block_size = 1; }},
    {"LowTarget",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:1e-6"); }},
    {"HighTarget",
     [](DbConfig* config) { config->table.filter_policy = PolicyFromString("blocksieve:0.5"); }},
    // Every filter is "may match" then; what is rejected comes from files that are small enough.
    {"BudgetThatOnlySmallFiltersMeet",
     [](DbConfig* config) {
       config->table.filter_policy =
           PolicyFromString("{id=blocksieve;target_fpr=0.01;max_build_bytes=10000}");
     }},
};

class FilterFeature : public ::testing::TestWithParam<std::tuple<Feature, FilterShape>> {
 protected:
  static constexpr uint64_t kGroups = 150;
  static constexpr uint64_t kMembers = 8;

  FilterFeature() {
    // Groups of even numbers are there, but not what follows on each of their keys.
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

TEST_P(FilterFeature, EveryKeyIsFoundAndAbsentOnesAreRejected) {
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

  // tests/PITFALLS.md, 25: a compaction must not be led by filters.
  db.Compact();
  db.ResetUse();
  EXPECT_EQ(Check(&db, config), "") << "after compaction";
  if (std::string(feature.name) != "BudgetThatOnlySmallFiltersMeet" ||
      shape == FilterShape::kPartitioned) {
    EXPECT_GT(db.Use().all_rejected(), 0u);
  }

  db.Reopen(config);
  EXPECT_EQ(Check(&db, config), "") << "after opening it again";
  EXPECT_EQ(db.FilterPolicyNames(), std::set<std::string>{"blocksieve"});
  EXPECT_TRUE(db->VerifyChecksum().ok());
}

INSTANTIATE_TEST_SUITE_P(Features, FilterFeature,
                         ::testing::Combine(::testing::ValuesIn(kFeatures), kBothShapes),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
