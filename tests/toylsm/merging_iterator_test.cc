#include "integration/toylsm/merging_iterator.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "integration/toylsm/memtable.h"

namespace blocksieve::toylsm {
namespace {

// A memtable's iterator that fails after some steps.
class FailingIterator final : public EntryIterator {
 public:
  FailingIterator(std::unique_ptr<EntryIterator> base, int steps)
      : base_(std::move(base)), steps_left_(steps) {}
  bool Valid() const override { return steps_left_ > 0 && base_->Valid(); }
  void SeekToFirst() override { base_->SeekToFirst(); }
  void SeekToLast() override { base_->SeekToLast(); }
  void Seek(const Position& target) override { base_->Seek(target); }
  void Next() override {
    --steps_left_;
    base_->Next();
  }
  void Prev() override {
    --steps_left_;
    base_->Prev();
  }
  const Entry& entry() const override { return base_->entry(); }
  Status status() const override {
    return steps_left_ > 0 ? Status::Ok() : Status::Corruption("no more steps");
  }

 private:
  const std::unique_ptr<EntryIterator> base_;
  int steps_left_;
};

class MergingIteratorTest : public ::testing::Test {
 protected:
  static constexpr size_t kNumTables = 4;

  MergingIteratorTest() {
    for (auto& table : tables_) table = std::make_shared<Memtable>();
    for (Sequence sequence = 1; sequence <= 200; ++sequence) {
      // The last table has one key only, the one before none.
      const size_t table = sequence == 100 ? kNumTables - 1 : random_() % (kNumTables - 2);
      const std::string key = "k" + std::to_string(random_() % 60);
      tables_[table]->Add({key, sequence, EntryType::kPut, "v"});
      all_->Add({key, sequence, EntryType::kPut, "v"});
    }
  }

  std::vector<std::unique_ptr<EntryIterator>> Sources() const {
    std::vector<std::unique_ptr<EntryIterator>> sources;
    for (const auto& table : tables_) sources.push_back(Memtable::NewIterator(table));
    return sources;
  }

  std::mt19937_64 random_{1};
  std::shared_ptr<Memtable> tables_[kNumTables];
  std::shared_ptr<Memtable> all_ = std::make_shared<Memtable>();
};

TEST_F(MergingIteratorTest, TurnsAroundAnywhere) {
  MergingIterator merged(Sources());
  const auto expected = Memtable::NewIterator(all_);
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t dice = random_() % 100;
    if (dice < 2 || !expected->Valid()) {
      const std::string key = "k" + std::to_string(random_() % 70);
      merged.Seek({key, random_() % 200});
      expected->Seek(merged.Valid() ? merged.entry().position() : Position{"z"});
      const bool is_end = random_() % 2 == 0;
      for (EntryIterator* iterator : {static_cast<EntryIterator*>(&merged), expected.get()}) {
        if (dice == 0) is_end ? iterator->SeekToLast() : iterator->SeekToFirst();
      }
    } else {
      dice < 51 ? merged.Next() : merged.Prev();
      dice < 51 ? expected->Next() : expected->Prev();
    }
    ASSERT_EQ(merged.Valid(), expected->Valid());
    if (!merged.Valid()) continue;
    ASSERT_EQ(merged.entry().key, expected->entry().key);
    ASSERT_EQ(merged.entry().sequence, expected->entry().sequence);
  }
}

TEST_F(MergingIteratorTest, AnErrorOfOneSourceEndsIt) {
  for (const bool forward : {true, false}) {
    auto sources = Sources();
    sources[1] = std::make_unique<FailingIterator>(std::move(sources[1]), 10);
    MergingIterator merged(std::move(sources));
    forward ? merged.SeekToFirst() : merged.SeekToLast();
    int num_entries = 0;
    for (; merged.Valid(); forward ? merged.Next() : merged.Prev()) ++num_entries;
    EXPECT_EQ(merged.status().code(), StatusCode::kCorruption);
    EXPECT_LT(num_entries, 100);
  }
}

}  // namespace
}  // namespace blocksieve::toylsm
