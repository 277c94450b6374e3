#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/toylsm/toy_model.h"

// What blocksieve is there for: how few blocks reads cost.

namespace blocksieve::toylsm {
namespace {

std::string RowKey(uint64_t i) {
  const std::string digits = std::to_string(i);
  return std::string(12 - digits.size(), '0') + digits;
}

// A database of several levels whose keys are the even numbers.
class ReadCost : public ::testing::Test {
 protected:
  static constexpr uint64_t kNumKeys = 120'000;

  Options MakeOptions() {
    Options options;
    options.env = &env_;
    options.memtable_bytes = 512 << 10;
    options.level1_bytes = 256 << 10;
    options.size_ratio = 4;
    options.file_bytes = 512 << 10;
    options.cache_bytes = 256 << 20;
    options.value_columns = {*Column::Parse("host=field:1"), *Column::Parse("batch=int:2")};
    return options;
  }

  // `host` is one of 2,000 at random, `batch` grows with the key.
  std::string Row(uint64_t key, uint64_t version) {
    return "host" + std::to_string(random_() % 2000) + "\t" +
           std::to_string(key / 1000 * 10 + version) + "\t" + std::to_string(random_()) +
           std::to_string(random_());
  }

  void Fill(const Options& options) {
    db_ = MustHave(Db::Open(options, "/db"));
    std::vector<uint64_t> keys(kNumKeys);
    for (uint64_t i = 0; i < kNumKeys; ++i) keys[i] = 2 * i;
    std::shuffle(keys.begin(), keys.end(), random_);
    for (const uint64_t key : keys) MustBeOk(db_->Put(RowKey(key), Row(key, 0)));
    MustBeOk(db_->Flush());
    ForgetReads();
  }

  void ForgetReads() {
    db_->cache().Clear();
    db_->counters().Reset();
  }

  struct Oracle {
    uint64_t visible = 0;  // blocks that hold a row of the answer
    uint64_t necessary =
        0;  // these; blocks with an older version that matches; and those that tell
  };        // that it is older: no index of values can know them apart

  Oracle BlocksToRead(const Predicate& predicate) {
    const auto version = db_->version();
    std::set<std::pair<uint64_t, size_t>> visible;
    std::set<std::pair<uint64_t, size_t>> necessary;
    MergingIterator entries(EntrySources(*version, {&db_->maintenance_counters(), nullptr}));
    // Source 0 is the memtable, which is empty here.
    const auto block_of = [&](size_t source, const std::string& key) {
      const auto& run = version->runs[source - 1];
      const SstReader& file = *run.files[run.FindFile(key)];
      return std::pair(file.info().number, file.FindBlock(key));
    };
    for (entries.SeekToFirst(); entries.Valid();) {
      const std::string key(entries.entry().key);
      const bool newest_matches = predicate.Matches(entries.entry().value);
      const auto newest_block = block_of(entries.current_source(), key);
      if (newest_matches) visible.insert(newest_block);
      for (entries.Next(); entries.Valid() && entries.entry().key == key; entries.Next()) {
        if (newest_matches || !predicate.Matches(entries.entry().value)) continue;
        necessary.insert(newest_block);
        necessary.insert(block_of(entries.current_source(), key));
      }
    }
    necessary.insert(visible.begin(), visible.end());
    return {visible.size(), necessary.size()};
  }

  // Expects a right answer, and counts the blocks that it cost.
  void CheckScan(const std::string& text) {
    const Predicate predicate = *Predicate::Parse(text, MakeOptions().value_columns);
    const Oracle oracle = BlocksToRead(predicate);
    const Model expected = Matching(MustHave(ReadAll(db_->NewIterator().get())), predicate);
    ForgetReads();
    const auto scan = db_->Scan(predicate);
    EXPECT_EQ(MustHave(ReadAll(scan.get())), expected);
    const uint64_t read = db_->counters().Get(Count::kDataBlocksFromDisk);
    const auto ratio = [read](uint64_t blocks) {
      return static_cast<double>(read) / static_cast<double>(blocks);
    };
    std::printf("  %-32s %4zu rows, %4llu of %llu blocks: %.3f x visible, %.3f x necessary\n",
                text.c_str(), expected.size(), static_cast<unsigned long long>(read),
                static_cast<unsigned long long>(scan->stats().num_blocks), ratio(oracle.visible),
                ratio(oracle.necessary));
    num_read_ += read;
    num_visible_ += oracle.visible;
    num_necessary_ += oracle.necessary;
  }

  // Of all together: single answers are small numbers, in which one block more is chance.
  void CheckScans(const char* name, double allowed_of_visible) {
    std::printf("%s:\n", name);
    num_read_ = num_visible_ = num_necessary_ = 0;
    for (const char* text :
         {"host = 'host77'", "batch BETWEEN 300 AND 309", "host = 'host5' AND batch < 600",
          "host IN ('host1', 'host2')", "host IN ('host3', 'host4', 'host6', 'host7')"}) {
      CheckScan(text);
    }
    EXPECT_LE(static_cast<double>(num_read_),
              allowed_of_visible * static_cast<double>(num_visible_));
    EXPECT_LE(static_cast<double>(num_read_), 1.15 * static_cast<double>(num_necessary_));
  }

  std::mt19937_64 random_{1};
  MemoryEnv env_;
  std::unique_ptr<Db> db_;
  uint64_t num_read_ = 0;
  uint64_t num_visible_ = 0;
  uint64_t num_necessary_ = 0;
};

TEST_F(ReadCost, AbsentKeysWasteFewReads) {
  for (const FilterKind kind : {FilterKind::kBlockedBloom, FilterKind::kRibbon}) {
    constexpr double kTargetFpr = 0.02;
    env_.LosePower(MemoryEnv::Unsynced::kLost);
    for (const std::string& name : MustHave(env_.List("/db"))) MustBeOk(env_.Remove("/db/" + name));
    Options options = MakeOptions();
    options.key_filters = {{.kind = kind, .target_fpr = kTargetFpr}};
    Fill(options);
    const auto runs = db_->version()->runs.size();
    ASSERT_GE(runs, 3u);
    constexpr uint64_t kLookups = 100'000;
    for (uint64_t i = 0; i < kLookups; ++i) {
      ASSERT_FALSE(MustHave(db_->Get(RowKey(2 * (random_() % kNumKeys) + 1))).has_value());
    }
    const Counters& counters = db_->counters();
    const double wasted =
        static_cast<double>(counters.Get(Count::kFilterFalsePositives)) / kLookups;
    const double allowed = kTargetFpr * static_cast<double>(runs);
    std::printf("  %s: %zu runs, %.5f wasted reads per lookup, %.3f of target x levels\n",
                std::string(FilterKindName(kind)).c_str(), runs, wasted, wasted / allowed);
    EXPECT_LE(wasted, 1.05 * allowed);
    // Nor may they be suspiciously few: then something else than the filter answered.
    EXPECT_GE(wasted, 0.5 * allowed);
    EXPECT_EQ(counters.Get(Count::kFilterTruePositives), 0u);
    EXPECT_EQ(counters.Get(Count::kDataBlocksFromDisk) + counters.Get(Count::kDataBlocksFromCache),
              counters.Get(Count::kFilterFalsePositives));
    db_ = nullptr;
  }
}

TEST_F(ReadCost, LookupsInAPartLoadFewFilters) {
  Options options = MakeOptions();
  Fill(options);
  uint64_t all_filters = 0;
  for (const auto& file : db_->version()->AllFiles()) {
    // As the cache would count them.
    for (const BlockHandle& filter : file->index().filters) {
      all_filters += filter.raw_bytes + sizeof(Block);
    }
  }
  for (uint64_t begin = 0; begin < 2 * kNumKeys * 9 / 10; begin += 2 * kNumKeys / 7) {
    ForgetReads();
    uint64_t num_found = 0;
    for (uint64_t i = 0; i < 2 * kNumKeys / 100; ++i) {
      num_found += MustHave(db_->Get(RowKey(begin + i))).has_value() ? 1 : 0;
    }
    EXPECT_GT(num_found, kNumKeys / 200);
    const uint64_t resident = db_->cache().resident_bytes(Block::Kind::kFilter);
    const double share = static_cast<double>(resident) / static_cast<double>(all_filters);
    std::printf("  from %s on: %llu of %llu filter bytes: %.2f %%\n", RowKey(begin).c_str(),
                static_cast<unsigned long long>(resident),
                static_cast<unsigned long long>(all_filters), 100 * share);
    EXPECT_LE(share, 0.03);
    EXPECT_GT(resident, 0u);
  }
}

TEST_F(ReadCost, ScansReadCloseToWhatTheyMust) {
  Fill(MakeOptions());
  CheckScans("written in random order", 1.15);
  MustBeOk(db_->Compact());
  CheckScans("compacted", 1.15);
  for (uint64_t i = 0; i < kNumKeys / 5; ++i) {
    const uint64_t key = 2 * (random_() % kNumKeys);
    MustBeOk(db_->Put(RowKey(key), Row(key, 0)));
  }
  MustBeOk(db_->Flush());
  // A fifth of what matches is stale, and each such row costs its own block and that of the newer
  // version, neither of which holds a row of the answer.
  CheckScans("a fifth rewritten", 1.6);
}

}  // namespace
}  // namespace blocksieve::toylsm
