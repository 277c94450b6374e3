// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <random>
#include <thread>

#include "integration/sieve/sieve_format.h"
#include "integration/sieve/sieve_queue.h"
#include "tests/sieve/test_sieve.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {
namespace {

using sieve::SieveStats;

using UrlSieveTest = SieveTest;

// Any bytes, some of them none or few.
std::string RandomUrl(std::mt19937_64* random) {
  if ((*random)() % 50 != 0) return TestUrl((*random)() % 6000);
  return std::string((*random)() % 3, (*random)() % 2 == 0 ? '\0' : '\xff');
}

// Compares random operations, restarts and compactions with a model of sets and lists.
TEST_F(UrlSieveTest, AgreesWithTheModel) {
  // Soon overfull, and replaced at the next compaction.
  auto sieve = Open({.design_urls = 1000});
  std::mt19937_64 random(1);
  std::set<std::string> seen;
  std::deque<std::string> queued;
  for (int step = 0; step < 400; ++step) {
    std::vector<std::string> urls;
    for (uint64_t i = random() % 100; i > 0; --i) urls.push_back(RandomUrl(&random));
    switch (random() % 16) {
      case 0:
        sieve.reset();
        sieve = Open();
        break;
      case 1:
        ASSERT_TRUE(sieve->Compact().ok());
        EXPECT_EQ(Stats(*sieve).overfull, "");
        break;
      case 2:
      case 3:
      case 4:
        for (const std::string& url : Pop(sieve.get(), urls.size())) {
          ASSERT_FALSE(queued.empty());
          ASSERT_EQ(url, queued.front());
          queued.pop_front();
        }
        break;
      case 5:
      case 6: {
        uint64_t forgotten = 0;
        for (const std::string& url : urls) {
          forgotten += seen.erase(url);
          std::erase(queued, url);
        }
        ASSERT_EQ(Forget(sieve.get(), urls).known, forgotten);
        break;
      }
      default: {
        uint64_t new_urls = 0;
        for (const std::string& url : urls) {
          if (!seen.insert(url).second) continue;
          queued.push_back(url);
          ++new_urls;
        }
        ASSERT_EQ(Push(sieve.get(), urls).new_urls, new_urls);
      }
    }
    const SieveStats stats = Stats(*sieve);
    ASSERT_EQ(stats.seen, seen.size());
    ASSERT_EQ(stats.queued, queued.size());
    if (stats.overfull.empty()) {
      ASSERT_NEAR(stats.estimated.keys, static_cast<double>(seen.size()),
                  5 * stats.estimated.standard_error + 1);
    }
  }
  EXPECT_EQ(PopAll(sieve.get()), std::vector<std::string>(queued.begin(), queued.end()));
}

// Several threads push overlapping URLs while another pops.
TEST_F(UrlSieveTest, ParallelPushesEnqueueEachUrlOnce) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kUrls = 20'000;
  const auto sieve = Open();
  std::vector<std::string> popped;
  std::atomic<uint64_t> total_new = 0;
  {
    std::vector<std::jthread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        std::mt19937_64 random(t);
        for (int batch = 0; batch < 100; ++batch) {
          std::vector<std::string> urls;
          for (int i = 0; i < 500; ++i) urls.push_back(TestUrl(random() % kUrls));
          total_new += Push(sieve.get(), urls).new_urls;
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        for (std::string& url : Pop(sieve.get(), 50)) popped.push_back(std::move(url));
      }
    });
  }
  for (std::string& url : PopAll(sieve.get())) popped.push_back(std::move(url));
  EXPECT_EQ(popped.size(), total_new);
  EXPECT_EQ(std::set<std::string>(popped.begin(), popped.end()).size(), popped.size());
  EXPECT_EQ(Stats(*sieve).seen, popped.size());
  EXPECT_EQ(Stats(*sieve).queued, 0u);
}

TEST_F(UrlSieveTest, PoppingKeepsTheOrderAcrossRestartsAndClearing) {
  constexpr uint64_t kUrls = 200'000;  // several times kClearPositions
  uint64_t next = 0;
  auto sieve = Open();
  const std::vector<std::string> urls = TestUrls(0, kUrls);
  Push(sieve.get(), urls);
  while (next < kUrls) {
    for (const std::string& url : Pop(sieve.get(), 30'000)) ASSERT_EQ(url, urls[next++]);
    if (next == 90'000) {
      sieve.reset();
      sieve = Open();
    }
    if (next == 150'000) {
      ASSERT_TRUE(sieve->Compact().ok());
    }
  }
  EXPECT_EQ(Stats(*sieve).queued, 0u);
}

// Two conflicting guarantees, for a sieve at its design size.
TEST_F(UrlSieveTest, FiltersRecogniseNewUrlsInTheDocumentedMemory) {
  constexpr uint64_t kUrls = 1'000'000;
  constexpr uint64_t kBatch = 20'000;
  const auto sieve = Open({.design_urls = kUrls});
  const auto push = [&](uint64_t begin, uint64_t end) {
    for (; begin < end; begin += kBatch) Push(sieve.get(), TestUrls(begin, begin + kBatch));
  };
  push(0, kUrls);
  const SieveStats loaded = Stats(*sieve);
  EXPECT_GE(static_cast<double>(loaded.new_urls() - loaded.new_by_reading),
            0.985 * static_cast<double>(loaded.new_urls()));
  ASSERT_TRUE(sieve->Compact().ok());
  const SieveStats before = Stats(*sieve);
  EXPECT_EQ(before.seen, kUrls);
  EXPECT_LE(8 * static_cast<double>(before.filter_bytes()), 7.2 * kUrls);
  EXPECT_NEAR(before.estimated.keys, kUrls, 0.015 * kUrls);
  EXPECT_LT(before.estimated.standard_error, 0.006 * kUrls);

  push(kUrls, kUrls + 100'000);
  const SieveStats after = Stats(*sieve);
  const auto new_urls = static_cast<double>(after.new_urls() - before.new_urls());
  const auto by_reading = static_cast<double>(after.new_by_reading - before.new_by_reading);
  EXPECT_EQ(new_urls, 100'000);
  EXPECT_GT(by_reading, 0) << "a filter this small has false positives: nothing was counted";
  EXPECT_LE(by_reading, 0.015 * new_urls);
}

namespace fs = std::filesystem;
using sieve::SieveOptions;
using sieve::UrlSieve;

class UrlSieveOpeningTest : public SieveTest {
 protected:
  rocksdb::Status TryOpen(const SieveOptions& options) {
    std::unique_ptr<UrlSieve> opened;
    return UrlSieve::Open(path_, options, &opened);
  }
};

TEST_F(UrlSieveOpeningTest, BadOptionsAreNamed) {
  const rocksdb::Status status = TryOpen({.design_urls = 20'000'000'000});
  EXPECT_EQ(status.ToString(),
            "Invalid argument: blocksieve: design_urls is 2e+10; allowed: 0 to 1e+10");
}

TEST_F(UrlSieveOpeningTest, DamagedRecordsAreErrors) {
  const std::pair<std::string, std::string> records[] = {
      {"version", "2"}, {"version", ""}, {"queue", "\xff"}, {"shard-0", "\xff"}};
  for (const auto& record : records) {
    const std::string& key = record.first;
    Push(Open().get(), {"a", "b"});
    std::string sound;
    InDatabase(path_, [&](rocksdb::DB* db) {
      const rocksdb::Status status = db->Get({}, key, &sound);
      return status.IsNotFound() || status.ok() ? db->Put({}, key, record.second) : status;
    });
    EXPECT_FALSE(TryOpen({}).ok()) << key;
    InDatabase(path_, [&](rocksdb::DB* db) {
      return sound.empty() ? db->Delete({}, key) : db->Put({}, key, sound);
    });
    EXPECT_EQ(Push(Open().get(), {"a", "b"}).new_urls, 0u) << key;
  }
}

// RocksDB has written its IDENTITY, but no CURRENT.
TEST_F(UrlSieveOpeningTest, CreationMayHaveBeenInterrupted) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/IDENTITY") << "an identity";
  std::ofstream(path_ + "/LOG") << "a log for people";
  std::ofstream(path_ + "/MANIFEST-000001") << "half a record";
  EXPECT_EQ(Push(Open().get(), {"a"}).new_urls, 1u);
}

TEST_F(UrlSieveOpeningTest, ColumnFamiliesMayBeMissing) {
  rocksdb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(OpenDb(options, path_)->Put({}, sieve::kVersionKey, "1").ok());
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 4u);
  std::vector<std::string> families;
  EXPECT_TRUE(rocksdb::DB::ListColumnFamilies({}, path_, &families).ok());
  EXPECT_EQ(families,
            (std::vector<std::string>{"default", "queue", "seen-0", "seen-1", "seen-2", "seen-3"}));
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 0u);
}

TEST_F(UrlSieveOpeningTest, LeftoversOfADatabaseAreKept) {
  std::ofstream(path_) << "a file";
  EXPECT_EQ(TryOpen({}).ToString(), "Invalid argument: " + path_ + " is not a directory");
  fs::remove(path_);
  Push(Open().get(), {"a"});
  fs::remove(path_ + "/CURRENT");
  EXPECT_TRUE(TryOpen({}).IsCorruption());
}

// The counting filter that is saved on closing is valid only while the URLs do not change: an old
// one would not contain later URLs.
class SavedFilterTest : public SieveTest {
 protected:
  // Creates and closes a sieve with URLs 0 to `end`.
  void Make(uint64_t end, uint64_t design_urls = 20'000) {
    Push(Open({.design_urls = design_urls}).get(), TestUrls(0, end));
  }

  static bool IsIn(const std::string& path) {
    bool is_there = false;
    InDatabase(path, [&](rocksdb::DB* db) {
      std::string filter;
      const rocksdb::Status status = db->Get({}, "filter-0", &filter);
      is_there = status.ok();
      return status.IsNotFound() ? rocksdb::Status::OK() : status;
    });
    return is_there;
  }
};

TEST_F(SavedFilterTest, IsRebuiltIfDamaged) {
  Make(5000);
  InDatabase(path_, [](rocksdb::DB* db) {
    std::string filter;
    EXPECT_TRUE(db->Get({}, "filter-0", &filter).ok());
    filter[filter.size() / 3] = static_cast<char>(filter[filter.size() / 3] ^ 0x11);
    return db->Put({}, "filter-0", filter);
  });
  const auto sieve = Open();
  EXPECT_NEAR(Stats(*sieve).estimated.keys, 5000, 5 * Stats(*sieve).estimated.standard_error + 1);
  EXPECT_EQ(Push(sieve.get(), TestUrls(0, 5000)).new_urls, 0u);
}

// An overfull filter is replaced, here by one of the same size.
TEST_F(SavedFilterTest, IsDeletedWhenCompactionReplacesIt) {
  Make(80'000, 2000);
  Forget(Open().get(), TestUrls(4000, 80'000));
  EXPECT_TRUE(IsIn(path_));
  const auto sieve = Open();
  EXPECT_FALSE(Stats(*sieve).overfull.empty());
  EXPECT_TRUE(sieve->Compact().ok());
  EXPECT_TRUE(Stats(*sieve).overfull.empty());
  fs::copy(path_, dir_ / "killed");
  EXPECT_FALSE(IsIn(dir_ / "killed"));
}

// A failed push leaves URLs in the counting filter that the database does not have.
TEST_F(SavedFilterTest, IsNotSavedAfterAFailedPush) {
  Make(1000);
  EXPECT_TRUE(Open()->Compact().ok());
  InDatabase(path_, [&](rocksdb::DB* db) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData& file : files) {
      if (file.column_family_name != "seen-0") continue;
      std::fstream sst(path_ + file.name, std::ios::in | std::ios::out | std::ios::binary);
      sst.seekp(200);
      sst << "damage in the first block";
    }
    return rocksdb::Status::OK();
  });
  {
    const auto sieve = Open();
    std::vector<std::string> urls = TestUrls(1'000'000, 1'010'000);
    for (const std::string& url : TestUrls(0, 1000)) urls.push_back(url);
    sieve::UrlCounts counts;
    EXPECT_FALSE(sieve->Push(Views(urls), &counts).ok());
    Push(sieve.get(), TestUrls(2'000'000, 2'000'010));  // some for each shard
    EXPECT_TRUE(sieve->Close().ok());
  }
  EXPECT_FALSE(IsIn(path_));
}

using sieve::Queue;

class QueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    rocksdb::Options options;
    options.create_if_missing = true;
    db_ = OpenDb(options, dir_ / "db");
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db_->CreateColumnFamily({}, "queue", &family).ok());
    family_.reset(family);
    LoadAgain();
  }

  void LoadAgain() {
    queue_.emplace(db_.get(), family_.get());
    ASSERT_TRUE(queue_->Load().ok());
  }

  void Fill(uint64_t position) {
    ASSERT_TRUE(
        db_->Put({}, family_.get(), sieve::PositionKey(position), std::to_string(position)).ok());
  }

  const TempDir dir_;
  std::unique_ptr<rocksdb::DB> db_;
  std::unique_ptr<rocksdb::ColumnFamilyHandle> family_;
  std::optional<Queue> queue_;
};

// Two pushes run at once, and the later one finishes first. Its URLs must wait, or the head would
// pass the positions of the earlier one, whose URLs would be lost.
TEST_F(QueueTest, NothingAfterAReservationIsPopped) {
  {
    const Queue::Reservation earlier(&*queue_, 10);
    {
      const Queue::Reservation later(&*queue_, 10);
      EXPECT_EQ(later.first(), earlier.first() + 10);
      Fill(later.first());
    }
    EXPECT_TRUE(PopAll(&*queue_).empty());
    Fill(earlier.first() + 3);
    EXPECT_TRUE(PopAll(&*queue_).empty());
  }
  EXPECT_EQ(PopAll(&*queue_), (std::vector<std::string>{"3", "10"}));
}

TEST_F(QueueTest, AnEmptyReservationReleasesNoOther) {
  auto none = std::make_unique<Queue::Reservation>(&*queue_, 0);
  const Queue::Reservation some(&*queue_, 10);
  EXPECT_EQ(some.first(), none->first());
  none.reset();
  Fill(some.first() + 5);
  EXPECT_TRUE(PopAll(&*queue_).empty());
}

TEST_F(QueueTest, PositionsAreNeverReused) {
  Fill(Queue::Reservation(&*queue_, 5).first() + 4);
  LoadAgain();
  EXPECT_EQ(Queue::Reservation(&*queue_, 1).first(), 5u);
  EXPECT_EQ(PopAll(&*queue_), std::vector<std::string>{"4"});
  LoadAgain();  // nothing is queued, but position 4 was
  EXPECT_EQ(Queue::Reservation(&*queue_, 1).first(), 5u);
  EXPECT_EQ(queue_->num_popped(), 1u);
}

TEST_F(QueueTest, DamageIsAnError) {
  ASSERT_TRUE(db_->Put({}, family_.get(), "short", "x").ok());
  Queue queue(db_.get(), family_.get());
  EXPECT_TRUE(queue.Load().IsCorruption());
}

}  // namespace
}  // namespace blocksieve::testing
