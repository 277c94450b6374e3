#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/toylsm/toy_model.h"

// Readers read while writers write, flush and compact. What each of them sees must be one moment.

namespace blocksieve::toylsm {
namespace {

constexpr int kNumPairs = 200;

std::string Left(int i) { return "left" + std::to_string(i); }
std::string Right(int i) { return "right" + std::to_string(i); }
std::string ValueOf(int number) {
  return "w" + std::to_string(number % 9) + "\t" + std::to_string(number);
}

class ConcurrencyTest : public ::testing::Test {
 protected:
  // Both keys of a pair always have the same value; pairs that are written in turn by one writer
  // have values that only grow.
  void Write(int writer) {
    for (int number = 1; !stop_; ++number) {
      WriteBatch batch;
      const int pair = 2 * (number % (kNumPairs / 2)) + writer;
      batch.Put(Left(pair), ValueOf(number));
      batch.Put(Right(pair), ValueOf(number));
      if (number % 5 == 0) {
        batch.Delete(Left(pair));
        batch.Delete(Right(pair));
      }
      MustBeOk(db_->Write(batch, {.sync = number % 3 == 0}));
      if (number % 3000 == 0) MustBeOk(db_->Compact());
      if (number % 500 == 0) MustBeOk(db_->Flush());
      ++num_writes_;
    }
  }

  static void ExpectPairs(const Model& rows) {
    for (const auto& [key, value] : rows) {
      const bool is_left = key.starts_with("left");
      const auto other = rows.find((is_left ? "right" : "left") + key.substr(is_left ? 4 : 5));
      ASSERT_NE(other, rows.end()) << key;
      ASSERT_EQ(other->second, value) << key;
    }
  }

  // Turns around, over and over: meanwhile entries come between those that it can see.
  static void Walk(Iterator* iterator, const Model& all, unsigned seed) {
    std::mt19937 random(seed);
    auto row = all.begin();
    iterator->SeekToFirst();
    for (int step = 0; step < 300 && row != all.end(); ++step) {
      ASSERT_TRUE(iterator->Valid());
      ASSERT_EQ(iterator->key(), row->first);
      ASSERT_EQ(iterator->value(), row->second);
      if (random() % 5 < 3 || row == all.begin()) {
        iterator->Next();
        ++row;
      } else {
        iterator->Prev();
        --row;
      }
    }
    MustBeOk(iterator->status());
  }

  void Read() {
    const Predicate predicate = *Predicate::Parse("word = 'w4'", options_.value_columns);
    for (int round = 0; !stop_; ++round) {
      const auto snapshot = db_->GetSnapshot();
      const auto pair = round % kNumPairs;
      const std::string left = Left(pair);
      const std::string right = Right(pair);
      const std::vector<std::string_view> keys = {left, right};
      const auto now = MustHave(db_->MultiGet(keys));
      ASSERT_EQ(now[0], now[1]);
      if (round % 20 == 0) {
        const Model all = MustHave(ReadAll(db_->NewIterator(snapshot.get()).get()));
        ExpectPairs(all);
        Walk(db_->NewIterator(snapshot.get()).get(), all, static_cast<unsigned>(round));
        const Model matching = MustHave(ReadAll(db_->Scan(predicate, snapshot.get()).get()));
        ASSERT_EQ(matching, Matching(all, predicate));
        ExpectPairs(MustHave(ReadAll(db_->Scan(predicate).get())));
      }
      ++num_reads_;
    }
  }

  MemoryEnv env_;
  Options options_ = SmallOptions(&env_);
  std::unique_ptr<Db> db_ = MustHave(Db::Open(options_, "/db"));
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> num_writes_ = 0;
  std::atomic<uint64_t> num_reads_ = 0;
};

TEST_F(ConcurrencyTest, EveryoneSeesMoments) {
  std::vector<std::thread> threads;
  threads.reserve(6);
  for (int writer = 0; writer < 2; ++writer)
    threads.emplace_back([this, writer] { Write(writer); });
  for (int reader = 0; reader < 4; ++reader) threads.emplace_back([this] { Read(); });
  std::this_thread::sleep_for(std::chrono::seconds(LongTests() ? 60 : 2));
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(num_writes_, 100u);
  EXPECT_GT(num_reads_, 100u);
  MustBeOk(db_->Verify());
}

}  // namespace
}  // namespace blocksieve::toylsm
