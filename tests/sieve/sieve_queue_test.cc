// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/sieve_queue.h"

#include <optional>

#include "integration/sieve/sieve_format.h"
#include "tests/sieve/test_sieve.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {
namespace {

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
