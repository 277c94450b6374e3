#include "integration/sieve/url_sieve.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/sieve/test_sieve.h"

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

}  // namespace
}  // namespace blocksieve::testing
