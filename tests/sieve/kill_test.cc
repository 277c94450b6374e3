// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "tests/sieve/test_sieve.h"

// A process is killed while it pushes, pops and forgets: acknowledged changes survive, no URL is
// duplicated, and the rest can be pushed again.

namespace blocksieve::testing {
namespace {

constexpr uint64_t kUrls = 30'000;
constexpr size_t kBatch = 500;

std::vector<std::string> Batch(uint64_t number) {
  std::mt19937_64 random(number);
  std::vector<std::string> urls;
  for (size_t i = 0; i < kBatch; ++i) urls.push_back(TestUrl(random() % kUrls));
  return urls;
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Pushes batches from `first` on, with some pops, until it is killed.
[[noreturn]] void Work(const std::string& sieve_path, const std::string& journal_path,
                       const std::string& popped_path, uint64_t first) {
  // Lines are flushed one by one, so they survive the process.
  std::ofstream journal(journal_path, std::ios::app);
  std::ofstream popped(popped_path, std::ios::app);
  std::unique_ptr<sieve::UrlSieve> sieve;
  if (!sieve::UrlSieve::Open(sieve_path, {.design_urls = kUrls}, &sieve).ok()) _exit(2);
  for (uint64_t number = first;; ++number) {
    sieve::UrlCounts counts;
    const std::vector<std::string> urls = Batch(number);
    if (!sieve->Push(Views(urls), &counts).ok()) _exit(3);
    journal << number << "\n" << std::flush;
    uint64_t num_popped = 0;
    const auto take = [&](std::span<const std::string> some) {
      for (const std::string& url : some) popped << url << "\n" << std::flush;
      return true;
    };
    if (number % 3 == 0 && !sieve->Pop(100, take, &num_popped).ok()) _exit(4);
  }
}

/// Kills a process that does work() after a delay. Returns its status from wait().
template <class Work>
int KillAfter(uint64_t milliseconds, Work work) {
  const pid_t child = fork();
  if (child == -1) std::abort();
  if (child == 0) work();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  EXPECT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(UrlSieveKillTest, NoUrlIsLostOrDuplicated) {
  const TempDir dir;
  const std::string path = dir / "sieve";
  std::mt19937_64 random(7);
  uint64_t next_batch = 0;
  constexpr uint64_t kBatches = 20;  // fewer would prove nothing; slow machines take more rounds
  int round = 0;
  for (; round < 12 || (next_batch <= kBatches && round < 100); ++round) {
    // Later rounds are longer, or a slow machine would never get to its first batch.
    const int status = KillAfter((1 + round / 12) * (100 + random() % 400),
                                 [&] { Work(path, dir / "journal", dir / "popped", next_batch); });
    ASSERT_TRUE(WIFSIGNALED(status)) << "it failed with " << WEXITSTATUS(status);
    const std::vector<std::string> acknowledged = Lines(dir / "journal");
    // The next process pushes the unfinished batch again.
    if (!acknowledged.empty()) next_batch = std::stoull(acknowledged.back()) + 1;
  }
  ASSERT_GT(next_batch, kBatches);

  std::set<std::string> pushed;
  for (uint64_t number = 0; number < next_batch; ++number) {
    for (std::string& url : Batch(number)) pushed.insert(std::move(url));
  }
  const auto sieve = OpenSieve(path);
  // All acknowledged URLs are known, whether the counting filter was saved or not.
  EXPECT_EQ(Push(sieve.get(), {pushed.begin(), pushed.end()}).new_urls, 0u);
  const sieve::SieveStats stats = Stats(*sieve);
  EXPECT_GE(stats.seen, pushed.size());
  EXPECT_LE(stats.seen, pushed.size() + kBatch);
  EXPECT_NEAR(stats.estimated.keys, static_cast<double>(stats.seen),
              5 * stats.estimated.standard_error);

  // Each is popped or queued once, except those that were being handed out at the kill.
  std::map<std::string, int> times;
  for (const std::string& url : Lines(dir / "popped")) ++times[url];
  const auto twice_popped =
      std::count_if(times.begin(), times.end(), [](const auto& entry) { return entry.second > 1; });
  EXPECT_LE(twice_popped, 100 * round);
  const std::vector<std::string> queued = PopAll(sieve.get());
  EXPECT_EQ(queued.size(), stats.queued);
  EXPECT_EQ(std::set<std::string>(queued.begin(), queued.end()).size(), queued.size());
  uint64_t again = 0;
  for (const std::string& url : queued) again += times.contains(url);
  EXPECT_LE(again, 100u) << "more than the killed process was handing out";
  std::set<std::string> all(queued.begin(), queued.end());
  for (const auto& [url, count] : times) all.insert(url);
  EXPECT_EQ(all.size(), stats.seen);
  for (const std::string& url : pushed) ASSERT_TRUE(all.contains(url)) << url << " is lost";
}

// Forgetting a URL is atomic, and the filters are in sync with it.
TEST(UrlSieveKillTest, ForgettingIsAtomic) {
  const TempDir dir;
  const std::string path = dir / "sieve";
  const std::vector<std::string> urls = TestUrls(0, kUrls);
  Push(OpenSieve(path, {.design_urls = kUrls}).get(), urls);
  for (int round = 0; round < 5; ++round) {
    KillAfter(60 + 30 * round, [&] {
      const auto sieve = OpenSieve(path);
      for (uint64_t begin = 0; begin < kUrls; begin += 100) {
        const std::vector<std::string> some = TestUrls(begin, begin + 100);
        Forget(sieve.get(), some);
        if (round % 2 == 1) Push(sieve.get(), some);
      }
      _exit(0);
    });
    const auto sieve = OpenSieve(path);
    const sieve::SieveStats stats = Stats(*sieve);
    EXPECT_EQ(stats.queued, stats.seen) << "a URL is queued exactly if it is seen";
    EXPECT_NEAR(stats.estimated.keys, static_cast<double>(stats.seen),
                5 * stats.estimated.standard_error + 1);
    EXPECT_EQ(Push(sieve.get(), urls).new_urls, kUrls - stats.seen);
  }
}

}  // namespace
}  // namespace blocksieve::testing
