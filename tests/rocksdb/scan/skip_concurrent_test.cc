#include <gtest/gtest.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/sst_file_writer.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "blocksieve/rocksdb/listener.h"
#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/environment.h"

// Scans beside writers, flushes, compactions and ingestion: at one snapshot, index on returns what
// index off does. One that returns a row too few or too many shows seed, predicate and explanation.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

/// Range deletes or merges, not both: RocksDB 7.8.3 by itself answers wrongly at snapshots where
/// they meet.
enum class Mix { kRangeDeletes, kMerges };

class ConcurrentScans : public ::testing::TestWithParam<std::tuple<Mix, unsigned>> {
 protected:
  static constexpr uint64_t kKeys = 3000;
  static constexpr uint64_t kNumbers = 300;

  ConcurrentScans() : config_(SkipConfig(IndexOptions())) {
    rocksdb::Options& options = config_.options;
    options.listeners = {NewListener()};
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 4;
    options.write_buffer_size = 96 << 10;
    options.max_write_buffer_number = 3;
    options.target_file_size_base = 48 << 10;
    options.max_bytes_for_level_base = 192 << 10;
    options.max_background_jobs = 3;
    if (mix() == Mix::kMerges) UseMergeOperator(&config_, "put");
  }

  // Some of the indexes are in sidecars.
  static SkipIndexOptions IndexOptions() {
    SkipIndexOptions options = ShortGranules({"n=int:field:1", "w=words:2"}, 8);
    options.max_property_bytes = 2000;
    return options;
  }

  static Mix mix() { return std::get<0>(GetParam()); }

  static std::string RandomValue(std::mt19937_64* random, uint64_t key) {
    // Half of the numbers go with the key, as clustered columns do.
    const uint64_t number = (*random)() % 2 == 0 ? key * kNumbers / kKeys : (*random)() % kNumbers;
    return std::to_string(number) + "\tlib" + std::to_string((*random)() % 50) + " word" +
           std::to_string((*random)() % 500) + " " + std::string((*random)() % 60, '.');
  }

  void WriteSome(std::mt19937_64* random) {
    const uint64_t key = (*random)() % kKeys;
    switch ((*random)() % 32) {
      case 0:
        MustBeOk(db_->db().Delete({}, Key(key)), "delete");
        break;
      case 1:
        if (mix() == Mix::kRangeDeletes) {
          MustBeOk(db_->db().DeleteRange({}, db_->db().DefaultColumnFamily(), Key(key),
                                         Key(key + 1 + (*random)() % 20)),
                   "delete range");
        }
        break;
      case 2:
      case 3:
        if (mix() == Mix::kMerges) {
          MustBeOk(db_->db().Merge({}, Key(key), RandomValue(random, key)), "merge");
        }
        break;
      default:
        MustBeOk(db_->db().Put({}, Key(key), RandomValue(random, key)), "put");
    }
  }

  // With an index and without, so that files of both kinds are there.
  void IngestSome(std::mt19937_64* random, uint64_t number) {
    rocksdb::Options options = config_.ToOptions();
    if ((*random)() % 2 == 0) options.table_properties_collector_factories.clear();
    const std::string path = db_->dir() / ("ingest" + std::to_string(number));
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
    MustBeOk(writer.Open(path), "open sst");
    uint64_t key = (*random)() % kKeys;
    for (int i = 0; i < 40 && key < kKeys; ++i, key += 1 + (*random)() % 30) {
      MustBeOk(writer.Put(Key(key), RandomValue(random, key)), "put sst");
    }
    MustBeOk(writer.Finish(), "finish sst");
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    MustBeOk(db_->db().IngestExternalFile({path}, ingest), "ingest");
  }

  std::string RandomPredicate(std::mt19937_64* random) {
    const auto below = [&](uint64_t bound) { return std::to_string((*random)() % bound); };
    std::string is_number = std::string("n = ").append(below(kNumbers + 10));
    std::string has_word = std::string("w HAS 'word").append(below(520)).append("'");
    const std::string has_lib = std::string("w HAS 'lib").append(below(50)).append("'");
    switch ((*random)() % 8) {
      case 0:
        return std::string("n IN (5, ").append(below(kNumbers)).append(", -7)");
      case 1:
        return is_number + " AND " + has_lib;
      case 2:
        return has_word;
      case 3:
        return is_number + " OR " + has_word;
      case 4:
        return std::string("n > ").append(std::to_string(kNumbers - 3 + (*random)() % 5));
      case 5:
        return "n BETWEEN 100 AND 102 AND NOT w HAS 'lib7'";
      default:
        return is_number;
    }
  }

  // Returns the number of predicate evaluations that were compared.
  uint64_t CompareOnce(std::mt19937_64* random) {
    rocksdb::DB* const db = &db_->db();
    const std::string text = RandomPredicate(random);
    const Predicate predicate = Where(text, columns_);
    const rocksdb::Snapshot* snapshot = nullptr;
    {
      const std::lock_guard lock(snapshots_mutex_);
      // An old one at times, which RocksDB keeps versions for.
      if (old_snapshot_ == nullptr || (*random)() % 64 == 0) {
        if (old_snapshot_ != nullptr) db->ReleaseSnapshot(old_snapshot_);
        old_snapshot_ = db->GetSnapshot();
      }
    }
    const bool use_old = (*random)() % 8 == 0;
    snapshot = use_old ? old_snapshot_ : db->GetSnapshot();
    SkipScanOptions options = AlwaysSkip();
    options.explain = (*random)() % 16 == 0;
    options.snapshot = snapshot;
    options.reverse = (*random)() % 4 == 0;
    options.limit = (*random)() % 8 == 0 ? 1 + (*random)() % 20 : 0;
    ScanExplanation explanation;
    const ScannedRows with_index = Scan(db, nullptr, predicate, options, &explanation);
    options.use_index = false;
    ScanExplanation full;
    const ScannedRows without = Scan(db, nullptr, predicate, options, &full);
    EXPECT_EQ(with_index, without)
        << text << (options.reverse ? ", reverse" : "") << (use_old ? ", old snapshot" : "") << "\n"
        << explanation.ToText();
    if (!use_old) db->ReleaseSnapshot(snapshot);
    num_skipping_ +=
        !explanation.is_full_scan && explanation.granules_selected < explanation.num_granules / 2;
    num_vanished_ += explanation.files_vanished;
    num_rechecked_ += explanation.rows_rechecked;
    num_stale_ += explanation.rows_stale;
    num_ranges_ += explanation.ranges_read;
    rows_found_ += without.size();
    return full.rows_read;
  }

  const std::vector<Column> columns_ = Columns({"n=int:field:1", "w=words:2"});
  DbConfig config_;
  std::unique_ptr<TestDb> db_;
  std::mutex snapshots_mutex_;
  const rocksdb::Snapshot* old_snapshot_ = nullptr;
  uint64_t num_skipping_ = 0;
  uint64_t num_vanished_ = 0;
  uint64_t num_rechecked_ = 0;
  uint64_t num_stale_ = 0;
  uint64_t num_ranges_ = 0;
  uint64_t rows_found_ = 0;
};

TEST_P(ConcurrentScans, IndexOnEqualsIndexOff) {
  const unsigned seed = std::get<1>(GetParam());
  std::mt19937_64 random(seed);
  db_ = std::make_unique<TestDb>(config_);
  for (uint64_t key = 0; key < kKeys; ++key) {
    MustBeOk(db_->db().Put({}, Key(key), RandomValue(&random, key)), "put");
  }
  db_->Flush();
  db_->Compact();
  for (int i = 0; i < 300; ++i) WriteSome(&random);
  db_->Flush();

  // Alone first: a test that skips nothing, or finds nothing, has not tested anything. What scans
  // find beside the others is up to these.
  uint64_t scans = 50;
  uint64_t evaluations = 0;
  for (uint64_t i = 0; i < scans; ++i) evaluations += CompareOnce(&random);
  EXPECT_GT(num_skipping_, 0u);
  EXPECT_GT(rows_found_, scans);
  EXPECT_GT(num_rechecked_, 0u);

  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  const auto repeat = [&](unsigned number, std::chrono::microseconds pause,
                          const std::function<void(std::mt19937_64*)>& action) {
    threads.emplace_back([&stop, seed, number, pause, action] {
      std::mt19937_64 own(seed * 100 + number);
      while (!stop) {
        action(&own);
        std::this_thread::sleep_for(pause);
      }
    });
  };
  using std::chrono::milliseconds;
  repeat(1, milliseconds(1), [this](std::mt19937_64* own) {
    for (int i = 0; i < 20; ++i) WriteSome(own);
  });
  repeat(2, milliseconds(15), [this](std::mt19937_64*) { db_->Flush(); });
  repeat(3, milliseconds(70), [this](std::mt19937_64* own) {
    const std::string begin = Key((*own)() % kKeys);
    const std::string end = Key((*own)() % kKeys);
    const rocksdb::Slice first(begin);
    const rocksdb::Slice last(end);
    MustBeOk(db_->db().CompactRange({}, &first, &last), "compact");
  });
  uint64_t ingested = 0;
  repeat(4, milliseconds(25), [&](std::mt19937_64* own) { IngestSome(own, ++ingested); });

  const uint64_t enough = LongTests() ? 1'000'000 : 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(LongTests() ? 10 : 2);
  while (!HasFailure() && (std::chrono::steady_clock::now() < end || evaluations < enough)) {
    evaluations += CompareOnce(&random);
    ++scans;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  if (old_snapshot_ != nullptr) db_->db().ReleaseSnapshot(old_snapshot_);
  RecordProperty("evaluations", std::to_string(evaluations));
  std::printf(
      "%lu scans, %lu evaluations, %lu rows, %lu scans skipped most granules, %lu vanished "
      "files, %lu rows re-checked, %lu stale, %lu merged ranges, %lu ingested\n",
      scans, evaluations, rows_found_, num_skipping_, num_vanished_, num_rechecked_, num_stale_,
      num_ranges_, ingested);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ConcurrentScans,
                         ::testing::Combine(::testing::Values(Mix::kRangeDeletes, Mix::kMerges),
                                            ::testing::Values(1u, 2u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param) == Mix::kMerges
                                                  ? "MergesSeed"
                                                  : "RangeDeletesSeed") +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace blocksieve
