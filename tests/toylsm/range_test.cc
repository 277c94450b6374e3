#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "blocksieve/filter_builder.h"
#include "blocksieve/range_filter.h"
#include "tests/toylsm/toy_model.h"

// Filters that answer for ranges: what they save, and that nothing is lost where they cannot.

namespace blocksieve::toylsm {
namespace {

class RangeTest : public ::testing::Test {
 protected:
  static constexpr int kNumKeys = 40'000;
  static constexpr double kRangeFpr = 0.02;

  Options MakeOptions(double range_fpr) {
    Options options;
    options.env = &env_;
    options.memtable_bytes = 256 << 10;
    options.level1_bytes = 256 << 10;
    options.size_ratio = 4;
    options.file_bytes = 256 << 10;
    options.key_filters = {{.range_fpr = range_fpr}};
    return options;
  }

  // Eight random bytes, and some more that tell nothing.
  std::string RandomKey() {
    std::string key;
    for (int i = 0; i < 8; ++i) key += static_cast<char>(random_());
    return key + "/row";
  }

  void Fill(const Options& options) {
    db_ = MustHave(Db::Open(options, "/db"));
    for (int i = 0; i < kNumKeys; ++i) {
      const std::string key = RandomKey();
      model_[key] = "value" + std::to_string(i);
      MustBeOk(db_->Put(key, model_[key]));
    }
    MustBeOk(db_->Flush());
    ASSERT_GE(db_->version()->runs.size(), 3u);
    db_->counters().Reset();
  }

  // Of all filters, with what answers for points.
  double FilterBitsPerKey() const {
    uint64_t bytes = 0;
    uint64_t keys = 0;
    for (const auto& file : db_->version()->AllFiles()) {
      for (const BlockHandle& filter : file->index().filters) bytes += filter.raw_bytes;
      keys += file->index().num_entries;
    }
    return 8 * static_cast<double>(bytes) / static_cast<double>(keys);
  }

  // Of ranges without keys, by an iterator each.
  double BlocksPerEmptyRange(int num_ranges) {
    const Count counts[] = {Count::kDataBlocksFromDisk, Count::kDataBlocksFromCache};
    uint64_t before = 0;
    uint64_t after = 0;
    for (const Count count : counts) before += db_->counters().Get(count);
    int num_asked = 0;
    while (num_asked < num_ranges) {
      KeyRange range{.begin = RandomKey(), .end = std::nullopt};
      range.end = range.begin.substr(0, 6) + "\xff\xff\xff";
      if (!Within(model_, range).empty()) continue;
      ++num_asked;
      const auto iterator = db_->NewIterator(nullptr, range);
      iterator->SeekToFirst();
      EXPECT_FALSE(iterator->Valid());
      MustBeOk(iterator->status());
    }
    for (const Count count : counts) after += db_->counters().Get(count);
    return static_cast<double>(after - before) / num_asked;
  }

  std::mt19937_64 random_{1};
  MemoryEnv env_;
  std::unique_ptr<Db> db_;
  Model model_;
};

TEST_F(RangeTest, EmptyRangesReadFewBlocks) {
  Fill(MakeOptions(kRangeFpr));
  const auto runs = static_cast<double>(db_->version()->runs.size());
  constexpr int kNumRanges = 1000;
  const double blocks = BlocksPerEmptyRange(kNumRanges);
  const Counters& counters = db_->counters();
  std::printf("  %.0f runs, %.4f blocks per range without keys, %.2f bits per key\n", runs, blocks,
              FilterBitsPerKey());
  EXPECT_LT(blocks, 1.5 * kRangeFpr * runs);
  EXPECT_GT(counters.Get(Count::kRangeNegatives), 0.9 * runs * kNumRanges);
  EXPECT_EQ(static_cast<double>(counters.Get(Count::kRangePositives)), blocks * kNumRanges);
  MustBeOk(db_->Verify());
}

TEST_F(RangeTest, WithoutRangesEveryRunIsRead) {
  Fill(MakeOptions(0));
  const auto runs = static_cast<double>(db_->version()->runs.size());
  EXPECT_NEAR(BlocksPerEmptyRange(200), runs, 0.05 * runs);
  std::printf("  %.2f bits per key\n", FilterBitsPerKey());
  EXPECT_EQ(db_->counters().Get(Count::kRangeNegatives), 0u);
  EXPECT_EQ(db_->counters().Get(Count::kRangePositives), 0u);
}

TEST_F(RangeTest, OneFilterForAllOfAFile) {
  Options options = MakeOptions(kRangeFpr);
  options.filter_granule_blocks = 0;
  Fill(options);
  const auto runs = static_cast<double>(db_->version()->runs.size());
  std::printf("  %.2f bits per key\n", FilterBitsPerKey());
  EXPECT_LT(BlocksPerEmptyRange(500), 1.6 * kRangeFpr * runs);
}

TEST_F(RangeTest, ARangeReadsNothingBehindItsEnd) {
  Fill(MakeOptions(kRangeFpr));
  for (int i = 0; i < 20; ++i) {
    const KeyRange range{.begin = RandomKey(), .end = RandomKey()};
    const Model expected = Within(model_, range);
    db_->cache().Clear();
    db_->counters().Reset();
    EXPECT_EQ(MustHave(ReadAll(db_->NewIterator(nullptr, range).get())), expected);
    // Of each run the blocks that the range begins and ends in, at most, have nothing of it.
    uint64_t necessary = 0;
    for (const auto& file : db_->version()->AllFiles()) {
      for (size_t block = 0; block < file->num_blocks(); ++block) {
        const std::string& last = file->index().blocks[block].last_key;
        necessary += last >= range.begin && !range.EndsAt(last);
      }
    }
    EXPECT_LE(db_->counters().Get(Count::kDataBlocksFromDisk),
              necessary + db_->version()->runs.size());
  }
}

TEST_F(RangeTest, LookupsAreAsBefore) {
  Fill(MakeOptions(kRangeFpr));
  for (const auto& [key, value] : model_) ASSERT_EQ(MustHave(db_->Get(key)), value);
  db_->counters().Reset();
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(MustHave(db_->Get(RandomKey())), std::nullopt);
  const double wasted = static_cast<double>(db_->counters().Get(Count::kFilterFalsePositives));
  EXPECT_LT(wasted, 1.2 * 0.01 * 10'000 * static_cast<double>(db_->version()->runs.size()));
}

TEST_F(RangeTest, MemoryIsSpreadBesidesRanges) {
  Options options = MakeOptions(kRangeFpr);
  options.bits_per_key = 2;  // so few that the last level would have no filters
  Fill(options);
  for (const auto& file : db_->version()->AllFiles()) EXPECT_TRUE(file->HasFilter(0));
  const auto runs = static_cast<double>(db_->version()->runs.size());
  EXPECT_LT(BlocksPerEmptyRange(500), 1.6 * kRangeFpr * runs);
}

TEST_F(RangeTest, RatesOutOfRangeAreRefused) {
  for (const double range_fpr : {-0.1, 1e-6, 0.5, 1.0}) {
    const auto db = Db::Open(MakeOptions(range_fpr), "/db");
    EXPECT_EQ(db.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(db.status().message().find("range_fpr"), std::string::npos) << db.status().message();
  }
}

}  // namespace
}  // namespace blocksieve::toylsm
