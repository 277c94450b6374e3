// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "blocksieve/hash.h"
#include "tests/toylsm/toy_model.h"

// The blocks that reads cost with filters and indexes; integration/toylsm/README.md has the counts.

namespace blocksieve::toylsm {
namespace {

constexpr uint64_t kNumKeys = 60'000;

// In the order of their numbers.
std::string OrderedKey(uint64_t i) { return "key" + std::to_string(1'000'000'000 + i); }

// Eight bytes in random order, and some padding.
std::string ScatteredKey(uint64_t i) {
  std::string key;
  AppendLittleEndian(&key, HashKey(std::to_string(i)));
  return key + "/row";
}

// A database of several levels whose keys are the even numbers.
class ReadCostTest : public ::testing::Test {
 protected:
  Options MakeOptions() {
    Options options;
    options.env = &env_;
    options.memtable_bytes = 256 << 10;
    options.level1_bytes = 384 << 10;
    options.size_ratio = 4;
    options.file_bytes = 256 << 10;
    options.cache_bytes = 256 << 20;
    options.skip_index.columns = {"host=field:1", "batch=int:2"};
    return options;
  }

  // `host` is one of 2,000 at random, `batch` grows with the key.
  std::string Row(uint64_t key) {
    return "host" + std::to_string(random_() % 2000) + "\t" + std::to_string(key / 1000 * 10) +
           "\t" + std::to_string(random_()) + std::to_string(random_());
  }

  // A new database.
  void Fill(const Options& options) {
    static int number = 0;
    db_ = Must(Db::Open(options, "/db" + std::to_string(++number)));
    std::vector<uint64_t> keys(kNumKeys);
    for (uint64_t i = 0; i < kNumKeys; ++i) keys[i] = 2 * i;
    std::shuffle(keys.begin(), keys.end(), random_);
    for (const uint64_t key : keys) MustBeOk(db_->Put(key_(key), Row(key)));
    MustBeOk(db_->Flush());
    ASSERT_GE(num_runs(), 3);
    ForgetReads();
  }

  void ForgetReads() {
    db_->cache().Clear();
    db_->counters() = {};
  }

  double num_runs() const { return static_cast<double>(db_->version()->runs.size()); }

  double BlocksRead() const {
    return static_cast<double>(db_->counters().data_blocks_from_disk +
                               db_->counters().data_blocks_from_cache);
  }

  std::string AbsentKey() { return key_(2 * (random_() % kNumKeys) + 1); }

  double BlocksPerAbsentKey() {
    constexpr uint64_t kLookups = 50'000;
    ForgetReads();
    for (uint64_t i = 0; i < kLookups; ++i) {
      EXPECT_FALSE(Must(db_->Get(AbsentKey())).has_value());
    }
    return BlocksRead() / kLookups;
  }

  double BlocksPerEmptyRange() {
    constexpr int kNumRanges = 2000;
    ForgetReads();
    for (int i = 0; i < kNumRanges; ++i) {
      const std::string begin = AbsentKey();
      const auto rows =
          db_->NewIterator({.begin = begin, .end = begin.substr(0, 6) + "\xff\xff\xff"});
      EXPECT_FALSE(rows->Valid());
      MustBeOk(rows->status());
    }
    return BlocksRead() / kNumRanges;
  }

  // Data blocks that scans read per matching row. Each row of a host is in a different block, the
  // rows of a batch are adjacent.
  void CheckScans(double max_per_row_of_host) {
    const Model all = Must(ReadAll(db_->NewIterator()));
    const struct {
      const char* predicate;
      double max_per_row;
    } scans[] = {{"host IN ('host1', 'host2', 'host3')", max_per_row_of_host},
                 {"host IN ('host4', 'host5') AND batch < 600", max_per_row_of_host},
                 {"batch BETWEEN 300 AND 309", 0.1},
                 {"host = 'absent'", 0}};
    for (const auto& scan : scans) {
      const Predicate predicate =
          *Predicate::Parse(scan.predicate, MakeOptions().skip_index.columns);
      ForgetReads();
      const Model rows = Must(ReadAll(db_->Scan(predicate)));
      EXPECT_EQ(rows, Matching(all, predicate));
      std::cout << "  " << rows.size() << " rows: " << BlocksRead() << " blocks\n";
      EXPECT_LE(BlocksRead(), scan.max_per_row * static_cast<double>(rows.size()))
          << scan.predicate;
    }
  }

  std::string (*key_)(uint64_t number) = &OrderedKey;
  std::mt19937_64 random_{1};
  FaultEnv env_;
  std::unique_ptr<Db> db_;
};

TEST_F(ReadCostTest, AbsentKeysWasteFewReads) {
  for (const FilterKind kind : {FilterKind::kBlockedBloom, FilterKind::kRibbon}) {
    Options options = MakeOptions();
    options.key_filters = {{.kind = kind, .target_fpr = 0.02}};
    options.filter_granule_blocks = 0;  // small filters are rounded up, to fewer false positives
    Fill(options);
    const double wasted = BlocksPerAbsentKey();
    EXPECT_EQ(static_cast<double>(db_->counters().filter_false_positives), BlocksRead());
    std::cout << "  blocks per absent key: " << wasted << ", runs: " << num_runs() << "\n";
    EXPECT_LE(wasted, 1.05 * 0.02 * num_runs());
    // Too few would mean that something other than the filter rejected keys.
    EXPECT_GE(wasted, 0.5 * 0.02 * num_runs());
  }
}

TEST_F(ReadCostTest, EmptyRangesReadFewBlocks) {
  key_ = &ScatteredKey;
  constexpr double kRangeFpr = 0.02;
  for (const bool ranges : {false, true}) {
    for (const uint32_t granule_blocks : {8U, 0U}) {
      Options options = MakeOptions();
      options.key_filters = {
          {.kind = FilterKind::kRibbon, .ranges = ranges, .range_fpr = kRangeFpr}};
      options.filter_granule_blocks = granule_blocks;
      Fill(options);
      const double blocks = BlocksPerEmptyRange();
      std::cout << "  blocks per empty range: " << blocks << "\n";
      const double per_run = blocks / num_runs();
      EXPECT_TRUE(ranges ? per_run < 1.5 * kRangeFpr : per_run > 0.7) << per_run;
      EXPECT_EQ(db_->counters().range_negatives > 0, ranges);
    }
  }
}

TEST_F(ReadCostTest, ScansReadFewBlocks) {
  Fill(MakeOptions());
  CheckScans(1.15);
  MustBeOk(db_->Compact());
  CheckScans(1.15);
  for (uint64_t i = 0; i < kNumKeys / 5; ++i) {
    const uint64_t key = 2 * (random_() % kNumKeys);
    MustBeOk(db_->Put(key_(key), Row(key)));
  }
  MustBeOk(db_->Flush());
  // A fifth of the matches is stale. Each costs its own block and that of the newer version,
  // neither of which has a result.
  CheckScans(1.6);
}

}  // namespace
}  // namespace blocksieve::toylsm
