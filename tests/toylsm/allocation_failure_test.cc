#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "tests/support/failing_allocation.h"
#include "tests/toylsm/toy_model.h"

// Every allocation fails once, alone and with all that follow. What changes the database returns an
// error, and nobody who comes later waits for ever; no acknowledged write is lost, and each write
// happens as a whole or not at all.

namespace blocksieve::toylsm {
namespace {

using testing::FailEachAllocation;

class ShortOfMemory : public ::testing::Test {
 protected:
  ShortOfMemory() { MakeDatabase(); }

  // A new one: a file, and a write that is in the log only.
  void MakeDatabase() {
    db_ = nullptr;
    env_ = std::make_unique<MemoryEnv>();
    options_ = SmallOptions(env_.get());
    options_.memtable_bytes = 1;  // each write flushes the one before
    options_.level0_files = 2;    // and each flush compacts
    options_.cache_bytes = 200;   // less than two blocks
    db_ = MustHave(Db::Open(options_, "/db"));
    MustBeOk(db_->Put("a", "w\t1"));
    MustBeOk(db_->Put("b", "w\t2"));
  }

  // `change` may fail: then the rows are those of before, or those of `after`.
  template <class Change>
  void FailEach(Change change, const Model& after) {
    uint64_t num_errors = 0;
    FailEachAllocation([&] { return change(); },
                       [&](const Status& status, bool failed) {
                         ASSERT_TRUE(status.ok() || failed) << status.message();
                         Model rows = before_;
                         Model rows_after = after;
                         if (!status.ok()) {
                           ASSERT_EQ(status.code(), StatusCode::kResourceExhausted);
                           ++num_errors;
                           if (db_ != nullptr && db_->Put("later", "").ok()) {
                             rows["later"] = rows_after["later"] = "";
                           }
                         }
                         const Model found = Reopen();
                         ASSERT_TRUE(found == rows_after || (!status.ok() && found == rows));
                         MakeDatabase();
                       });
    EXPECT_GT(num_errors, 5u);
  }

  Model Reopen() {
    db_ = nullptr;
    db_ = MustHave(Db::Open(options_, "/db"));
    MustBeOk(db_->Verify());
    return MustHave(ReadAll(db_->NewIterator().get()));
  }

  const Model before_ = {{"a", "w\t1"}, {"b", "w\t2"}};
  std::unique_ptr<MemoryEnv> env_;
  Options options_;
  std::unique_ptr<Db> db_;
};

TEST_F(ShortOfMemory, ABatchIsWrittenOrFails) {
  const std::string value = "w\t" + std::string(100, '3');  // too long for a string's own bytes
  WriteBatch batch;
  batch.Delete("a");
  batch.Put("c", value);
  FailEach([&] { return db_->Write(batch, {.sync = true}); }, {{"b", "w\t2"}, {"c", value}});
}

TEST_F(ShortOfMemory, AKeyIsPutOrDeletedOrThatFails) {
  const std::string key(100, 'k');
  FailEach([&] { return db_->Put(key, ""); }, {{"a", "w\t1"}, {"b", "w\t2"}, {key, ""}});
  FailEach([&] { return db_->Delete(key); }, before_);
}

TEST_F(ShortOfMemory, FlushesAndCompactionsChangeNoRow) {
  FailEach([&] { return db_->Flush(); }, before_);
  FailEach([&] { return db_->Compact(); }, before_);
}

TEST_F(ShortOfMemory, ADatabaseIsOpenedOrNot) {
  db_ = nullptr;
  FailEach(
      [&] {
        db_ = nullptr;
        auto db = Db::Open(options_, "/db");
        if (db.ok()) db_ = *std::move(db);
        return db.status();
      },
      before_);
}

TEST_F(ShortOfMemory, AnswersAreRightAfterThoseThatWereThrownAway) {
  const auto get = [&]() -> std::optional<std::string> {
    try {
      const auto value = db_->Get("a");
      return value.ok() ? *value : std::nullopt;
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  };
  MustBeOk(db_->Put("c", "w\t3"));
  for (int round = 0; round < 20; ++round) {
    FailEachAllocation(get, [&](const std::optional<std::string>& value, bool failed) {
      ASSERT_TRUE(failed || value == "w\t1");
      ASSERT_EQ(MustHave(db_->Get("b")), "w\t2");
    });
  }
}

}  // namespace
}  // namespace blocksieve::toylsm
