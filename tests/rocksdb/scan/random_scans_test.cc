// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/wide_columns.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/rocksdb/compat/interfering_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/environment.h"
#include "tests/support/new_policy.h"

// Random writes with scans among them: at one snapshot, scans with and without the index return the
// same rows. A failure shows the predicate and the explanation.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using Random = std::mt19937_64;

/// Orders by length, then in reverse, so that scans do not know the next key.
class StrangeOrder final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "StrangeOrder"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class RandomScans : public ::testing::TestWithParam<unsigned> {
 protected:
  RandomScans(uint64_t num_keys, uint64_t num_numbers)
      : num_keys_(num_keys),
        num_numbers_(num_numbers),  // Some of the indexes are in sidecars.
        config_(SkipConfig(IndexOptions(), {.max_property_bytes = 2000})) {
    rocksdb::Options& options = config_.options;
    options.listeners = {NewListener()};
    if (HasMerges()) UseMergeOperator(&config_, "put");
    static const StrangeOrder strange;
    const rocksdb::Comparator* const orders[] = {rocksdb::BytewiseComparator(),
                                                 rocksdb::ReverseBytewiseComparator(), &strange};
    options.comparator = orders[GetParam() / 2 % 3];
    if (GetParam() % 3 == 1) {
      options.enable_blob_files = true;
      options.min_blob_size = 74;  // a few of the values
    }
    if (GetParam() % 3 == 2) {
      options.memtable_prefix_bloom_size_ratio = 0.1;
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(7));
      if (HasMerges()) {  // an index that needs a prefix of every key
        options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(7));
        config_.table.index_type = rocksdb::BlockBasedTableOptions::kHashSearch;
      }
    }
  }

  static SkipIndexOptions IndexOptions() {
    return ShortGranules({"n=int:field:1", "w=words:2"}, 8);
  }

  // Range deletes or merges, not both: where they meet, RocksDB 7.8.3 itself answers wrongly at
  // snapshots.
  static bool HasMerges() { return GetParam() % 2 == 0; }

  // Some keys are outside the domain of the prefix extractor.
  static std::string NumberedKey(uint64_t i) {
    const std::string short_ones[] = {"", std::string(1, '\0'), "a", std::string("a\0", 2)};
    return i < std::size(short_ones) ? short_ones[i] : Key(i) + (i % 3 == 0 ? "+" : "");
  }

  bool IsBefore(const std::string& a, const std::string& b) const {
    return config_.options.comparator->Compare(a, b) < 0;
  }

  std::string RandomValue(Random* random, uint64_t key) const {
    // Half of the numbers follow the key order, like clustered columns.
    const uint64_t number =
        (*random)() % 2 == 0 ? key * num_numbers_ / num_keys_ : (*random)() % num_numbers_;
    return std::to_string(number) + "\tlib" + std::to_string((*random)() % 50) + " word" +
           std::to_string((*random)() % 500) + " " + std::string((*random)() % 60, '.');
  }

  void Write(Random* random, int count) {
    rocksdb::ColumnFamilyHandle* const family = db().DefaultColumnFamily();
    for (; count > 0; --count) {
      const uint64_t number = (*random)() % num_keys_;
      const std::string key = NumberedKey(number);
      const std::string value = RandomValue(random, number);
      const std::string end = NumberedKey(number + 1 + (*random)() % 20);
      switch ((*random)() % 16) {
        case 0:
          MustBeOk(db().Delete({}, key), "delete");
          break;
        case 1: {
          const auto [first, last] = std::minmax(
              key, end, [this](const auto& a, const auto& b) { return IsBefore(a, b); });
          MustBeOk(
              HasMerges() ? db().Merge({}, key, value) : db().DeleteRange({}, family, first, last),
              "merge or delete range");
          break;
        }
        case 2:
          if (!HasMerges()) {
            MustBeOk(db().PutEntity({}, family, key,
                                    {{rocksdb::kDefaultWideColumnName, value}, {"other", "x"}}),
                     "entity");
            break;
          }
          [[fallthrough]];
        default:
          MustBeOk(db().Put({}, key, value), "put");
      }
    }
  }

  void CompactSome(Random* random) {
    const std::string begin = NumberedKey((*random)() % num_keys_);
    const std::string end = NumberedKey((*random)() % num_keys_);
    const rocksdb::Slice first(begin);
    const rocksdb::Slice last(end);
    MustBeOk(db().CompactRange({}, &first, &last), "compact");
  }

  // With an index and without, so that the database has files of both kinds.
  void IngestSome(Random* random) {
    rocksdb::Options options = config_.ToOptions();
    if ((*random)() % 2 == 0) options.table_properties_collector_factories.clear();
    std::vector<uint64_t> rows;
    uint64_t number = (*random)() % num_keys_;
    for (int i = 0; i < 40 && number < num_keys_; ++i, number += 1 + (*random)() % 30) {
      rows.push_back(number);
    }
    std::sort(rows.begin(), rows.end(),
              [&](uint64_t a, uint64_t b) { return IsBefore(NumberedKey(a), NumberedKey(b)); });
    const std::string path = db_->dir() / ("ingest" + std::to_string(++num_ingested_));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    MustBeOk(writer.Open(path), "file to ingest");
    for (const uint64_t row : rows) {
      MustBeOk(writer.Put(NumberedKey(row), RandomValue(random, row)), "put");
    }
    MustBeOk(writer.Finish(), "file to ingest");
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    ingest.write_global_seqno = (*random)() % 2 == 0;
    MustBeOk(db().IngestExternalFile({path}, ingest), "ingest");
  }

  std::string RandomPredicate(Random* random) const {
    const auto below = [&](uint64_t bound) { return std::to_string((*random)() % bound); };
    std::string is_number = "n = " + below(num_numbers_ + 10);
    std::string has_word = "w HAS 'word" + below(520) + "'";
    switch ((*random)() % 8) {
      case 0:
        return "n IN (5, " + below(num_numbers_) + ", -7)";
      case 1:
        return is_number + " AND w HAS 'lib" + below(50) + "'";
      case 2:
        return has_word;
      case 3:
        return is_number + " OR " + has_word;
      case 4:
        return "n > " + std::to_string(num_numbers_ - 3 + (*random)() % 5);
      case 5:
        return "n BETWEEN 10 AND 12 AND NOT w HAS 'lib7'";
      default:
        return is_number;
    }
  }

  /// Compares a scan of `scanned`, which may interfere, with a scan of the database without the
  /// index. Returns the number of predicate evaluations.
  uint64_t CompareOnce(rocksdb::DB* scanned, Random* random) {
    const std::string text = RandomPredicate(random);
    const Predicate predicate = Where(text, columns_);
    // Sometimes an old snapshot, for which RocksDB keeps versions.
    if (old_snapshot_ == nullptr || (*random)() % 64 == 0) {
      if (old_snapshot_ != nullptr) db().ReleaseSnapshot(old_snapshot_);
      old_snapshot_ = db().GetSnapshot();
    }
    const bool use_old = (*random)() % 8 == 0;
    SkipScanOptions options = AlwaysSkip();
    options.explain = (*random)() % 16 == 0;
    options.snapshot = use_old ? old_snapshot_ : db().GetSnapshot();
    options.reverse = (*random)() % 4 == 0;
    options.limit = (*random)() % 4 == 0 ? 1 + (*random)() % 20 : 0;
    SkipScanOptions plain = options;
    plain.use_index = false;
    ScanExplanation full;
    const ScannedRows without = Scan(&db(), nullptr, predicate, plain, &full);
    ScanExplanation explanation;
    const ScannedRows with_index = Scan(scanned, nullptr, predicate, options, &explanation);
    EXPECT_EQ(with_index, without)
        << text << (options.reverse ? ", reverse" : "") << (use_old ? ", old snapshot" : "") << "\n"
        << explanation.ToText();
    if (!options.reverse && options.limit == 0 && (*random)() % 6 == 0) {
      ExpectOrders(scanned, nullptr, predicate, options, without);
    }
    if (!use_old) db().ReleaseSnapshot(options.snapshot);
    num_skipping_ +=
        !explanation.is_full_scan && explanation.granules_selected < explanation.num_granules / 2;
    num_vanished_ += explanation.files_vanished;
    num_too_new_ += explanation.files_too_new + explanation.granules_too_new;
    num_rechecked_ += explanation.rows_rechecked;
    rows_found_ += without.size();
    return full.rows_read;
  }

  void TearDown() override {
    if (old_snapshot_ != nullptr) db().ReleaseSnapshot(old_snapshot_);
  }

  rocksdb::DB& db() { return db_->db(); }

  const uint64_t num_keys_;
  const uint64_t num_numbers_;
  const std::vector<Column> columns_ = Columns({"n=int:field:1", "w=words:2"});
  DbConfig config_;
  std::optional<TestDb> db_;
  const rocksdb::Snapshot* old_snapshot_ = nullptr;
  uint64_t num_ingested_ = 0;
  uint64_t num_skipping_ = 0;
  uint64_t num_vanished_ = 0;
  uint64_t num_too_new_ = 0;
  uint64_t num_rechecked_ = 0;
  uint64_t rows_found_ = 0;
};

// Writes, flushes, compactions and ingestion between any two steps of a scan, in one thread, so
// that rare interleavings of threads happen each time: a wrong order of steps loses rows here.
class SkipInterferenceTest : public RandomScans {
 protected:
  SkipInterferenceTest() : RandomScans(500, 60) { config_.options.target_file_size_base = 8 << 10; }

  void Interfere(Random* random) {
    switch ((*random)() % 12) {
      case 0:
        return Write(random, 5);
      case 1:
        Write(random, 20);
        return db_->Flush();
      case 2:
        return db_->Flush();
      case 3:
        return CompactSome(random);
      case 4:
        db_->Flush();
        return db_->Compact();
      case 5:
        return IngestSome(random);
      default:
        return;
    }
  }
};

TEST_P(SkipInterferenceTest, NoRowIsLost) {
  Random random(GetParam());
  db_.emplace(config_);
  InterferingDb interfering(&db(), [&] { Interfere(&random); });
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    Write(&random, 100);
    CompareOnce(&interfering, &random);
  }
  EXPECT_GT(rows_found_, 25u);
  EXPECT_GT(num_vanished_, 0u);
  EXPECT_GT(num_too_new_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SkipInterferenceTest, ::testing::Range(1u, 7u));

// Concurrent with writers, flushes, compactions and ingestion. Tables are constantly closed and
// reopened, with their filters and indexes.
class ConcurrentScansTest : public RandomScans {
 protected:
  ConcurrentScansTest() : RandomScans(3000, 300) {
    const auto policy = NewPolicy({.bits_per_key = 10});
    config_.table = MakeConfig(FilterShape::kPartitioned, policy).table;
    config_.table.detect_filter_construct_corruption = true;
    config_.table.cache_index_and_filter_blocks = true;
    config_.table.block_cache = rocksdb::NewLRUCache(64 << 10, 1);
    rocksdb::Options& options = config_.options;
    options.max_open_files = 20;  // RocksDB keeps half of them for tables
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 4;
    options.write_buffer_size = 96 << 10;
    options.max_write_buffer_number = 3;
    options.target_file_size_base = 48 << 10;
    options.max_bytes_for_level_base = 192 << 10;
    options.max_background_jobs = 3;
  }
};

TEST_P(ConcurrentScansTest, IndexOnEqualsIndexOff) {
  const unsigned seed = GetParam();
  Random random(seed);
  db_.emplace(config_);
  for (uint64_t key = 0; key < num_keys_; ++key)
    db_->Put(NumberedKey(key), RandomValue(&random, key));
  db_->Flush();
  db_->Compact();
  Write(&random, 300);
  db_->Flush();

  // First without other threads, to check that scans skip granules and find rows. Later results
  // depend on the other threads.
  uint64_t scans = 50;
  uint64_t evaluations = 0;
  for (uint64_t i = 0; i < scans; ++i) evaluations += CompareOnce(&db(), &random);
  EXPECT_GT(num_skipping_, 0u);
  EXPECT_GT(rows_found_, scans);
  EXPECT_GT(num_rechecked_, 0u);

  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  const auto repeat = [&](std::chrono::milliseconds pause,
                          const std::function<void(Random*)>& action) {
    threads.emplace_back([&stop, own_seed = seed * 100 + threads.size(), pause, action] {
      Random own(own_seed);
      while (!stop) {
        action(&own);
        std::this_thread::sleep_for(pause);
      }
    });
  };
  using std::chrono::milliseconds;
  repeat(milliseconds(1), [this](Random* own) { Write(own, 20); });
  repeat(milliseconds(15), [this](Random*) { db_->Flush(); });
  repeat(milliseconds(70), [this](Random* own) { CompactSome(own); });
  repeat(milliseconds(25), [&](Random* own) { IngestSome(own); });

  const uint64_t enough = LongTests() ? 1'000'000 : 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(LongTests() ? 10 : 1);
  while (!HasFailure() && (std::chrono::steady_clock::now() < end || evaluations < enough)) {
    evaluations += CompareOnce(&db(), &random);
    ++scans;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  std::printf(
      "%lu scans, %lu evaluations, %lu rows, %lu scans skipped most granules, %lu vanished "
      "files, %lu rows re-checked, %lu files ingested\n",
      scans, evaluations, rows_found_, num_skipping_, num_vanished_, num_rechecked_, num_ingested_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConcurrentScansTest, ::testing::Range(1u, 5u));

}  // namespace
}  // namespace blocksieve
