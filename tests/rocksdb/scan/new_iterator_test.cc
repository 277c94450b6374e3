// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rocksdb/utilities/stackable_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "blocksieve/rocksdb/prune_reads.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/scan/skip_test_db.h"

// Iterators over the rows that match a condition.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class NewIteratorTest : public SkipFixture {
 protected:
  using Rows = std::map<std::string, std::string>;

  std::unique_ptr<rocksdb::Iterator> Open(rocksdb::DB* db, const std::string& condition = "n = 7",
                                          const rocksdb::ReadOptions& options = {}) {
    std::unique_ptr<rocksdb::Iterator> rows;
    const rocksdb::Status status = NewIterator(db, nullptr, condition, options, &rows);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return rows;
  }

  Rows Matching(const Rows& all, const std::string& condition = "n = 7") {
    const Predicate predicate = Is(condition);
    Rows matching;
    for (const auto& row : all) {
      if (predicate.Matches(row.second)) matching.insert(row);
    }
    return matching;
  }

  static Rows Read(rocksdb::Iterator* rows) {
    Rows read;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      read[rows->key().ToString()] = rows->value().ToString();
    }
    EXPECT_TRUE(rows->status().ok()) << rows->status().ToString();
    return read;
  }

  static std::string Property(rocksdb::Iterator* rows) {
    std::string text;
    EXPECT_TRUE(rows->GetProperty("blocksieve.pruning", &text).ok());
    return text;
  }

  // Random moves over both.
  static void ExpectSameMoves(rocksdb::Iterator* rows, const Rows& expected, uint32_t seed) {
    std::mt19937 random(seed);
    auto at = expected.end();
    for (int i = 0; i < 300; ++i) {
      const std::string target = Key(random() % 220);
      switch (at == expected.end() ? random() % 4 : random() % 8) {
        case 0:
          rows->SeekToFirst();
          at = expected.begin();
          break;
        case 1:
          rows->SeekToLast();
          at = expected.empty() ? expected.end() : std::prev(expected.end());
          break;
        case 2:
          rows->Seek(target);
          at = expected.lower_bound(target);
          break;
        case 3:
          rows->SeekForPrev(target);
          at = expected.upper_bound(target);
          at = at == expected.begin() ? expected.end() : std::prev(at);
          break;
        case 4:
        case 5:
          rows->Prev();
          at = at == expected.begin() ? expected.end() : std::prev(at);
          break;
        default:
          rows->Next();
          ++at;
      }
      ASSERT_EQ(rows->Valid(), at != expected.end()) << i << " " << rows->status().ToString();
      if (!rows->Valid()) continue;
      ASSERT_EQ(rows->key(), at->first) << i;
      ASSERT_EQ(rows->value(), at->second) << i;
    }
  }
};

TEST_F(NewIteratorTest, MovesOverTheRowsThatMatchBothWays) {
  TestDb db(config_);
  ForEachState(&db, [&] {
    for (uint64_t i = 0; i < 200; ++i) {
      if (i % 3 != 0) db.Put(Key(i), Value(i / 10 + i % 2));
    }
    for (uint64_t i = 0; i < 200; i += 7) db.Delete(Key(i));
    for (const std::string condition : {"n = 7", "n > 15", "n = 99", "NOT n = 7", ""}) {
      SCOPED_TRACE(condition);
      const auto rows = Open(&db.db(), condition);
      ExpectSameMoves(rows.get(), condition.empty() ? db.model() : Matching(db.model(), condition),
                      7);
    }
  });
}

TEST_F(NewIteratorTest, OwnsItsOptionsAndLeavesOutFiles) {
  TestDb db(config_);
  for (uint64_t i = 0; i < 200; ++i) {
    db.Put(Key(i), Value(i / 10));
    if (i % 20 == 19) db.Flush();
  }
  std::string lower_bytes = Key(75);
  auto options = std::make_unique<rocksdb::ReadOptions>();
  const rocksdb::Slice lower(lower_bytes);
  options->iterate_lower_bound = &lower;
  const auto rows = Open(&db.db(), "n = 7", *options);
  options.reset();
  lower_bytes.assign(lower_bytes.size(), 'z');
  Rows expected = Matching(db.model());
  expected.erase(expected.begin(), expected.lower_bound(Key(75)));
  EXPECT_EQ(Read(rows.get()), expected);
  EXPECT_NE(Property(rows.get()).find("9 pruned"), std::string::npos) << Property(rows.get());
}

TEST_F(NewIteratorTest, RefreshDecidesAnew) {
  TestDb db(config_);
  Fill(&db.db());
  db->CompactRange({}, nullptr, nullptr);
  const auto rows = Open(&db.db());
  EXPECT_EQ(Read(rows.get()).size(), 10U);
  // Files that were left out change.
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(i < 30 ? 7 : 8));
  db.Compact();
  EXPECT_EQ(Read(rows.get()).size(), 10U);
  ASSERT_TRUE(rows->Refresh().ok());
  ExpectSameMoves(rows.get(), Matching(db.model()), 3);
  EXPECT_EQ(Read(rows.get()).size(), 30U);
}

TEST_F(NewIteratorTest, ReadsAllWhereNothingMayBeLeftOut) {
  MustBeOk(
      rocksdb::MergeOperator::CreateFromString({}, "stringappend", &config_.options.merge_operator),
      "merge operator");
  TestDb db(config_);
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(i / 10));
  db.Compact();
  const auto rows = Open(&db.db());
  ExpectSameMoves(rows.get(), Matching(db.model()), 5);
  EXPECT_NE(Property(rows.get()).find("reads all: option merge_operator"), std::string::npos)
      << Property(rows.get());
}

TEST_F(NewIteratorTest, ShowsWritesOfATransaction) {
  TempDir dir;
  rocksdb::Options options = config_.ToOptions();
  options.create_if_missing = true;
  rocksdb::TransactionDB* opened = nullptr;
  ASSERT_TRUE(rocksdb::TransactionDB::Open(options, {}, dir / "db", &opened).ok());
  const std::unique_ptr<rocksdb::TransactionDB> db(opened);
  Fill(db.get());
  const std::unique_ptr<rocksdb::Transaction> own(db->BeginTransaction({}));
  ASSERT_TRUE(own->Put(Key(1), Value(7)).ok());
  ASSERT_TRUE(own->Put(Key(2), Value(8)).ok());
  ASSERT_TRUE(own->Put(Key(70), Value(8)).ok());
  ASSERT_TRUE(own->Delete(Key(71)).ok());
  std::unique_ptr<rocksdb::Iterator> rows;
  const auto make = [&](const rocksdb::ReadOptions& read) { return own->GetIterator(read); };
  ASSERT_TRUE(NewIterator(db.get(), nullptr, "n = 7", {}, make, &rows).ok());
  const Rows read = Read(rows.get());
  EXPECT_EQ(read.size(), 9U);
  EXPECT_TRUE(read.contains(Key(1)));
  rows.reset();
}

TEST_F(NewIteratorTest, RowsThatDoNotMatchCountForLimits) {
  TestDb db(config_);
  Fill(&db.db());
  rocksdb::ReadOptions options;
  options.max_skippable_internal_keys = 50;
  auto rows = Open(&db.db(), "n = 7", options);
  rows->SeekToFirst();
  EXPECT_FALSE(rows->Valid());
  EXPECT_TRUE(rows->status().IsIncomplete()) << rows->status().ToString();
  rows->Seek(Key(60));
  EXPECT_TRUE(rows->Valid());
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(i));  // no file is read
  options = {};
  options.deadline = std::chrono::microseconds(1);
  rows = Open(&db.db(), "n = 1000", options);
  rows->SeekToFirst();
  EXPECT_TRUE(rows->status().IsTimedOut()) << rows->status().ToString();
}

TEST_F(NewIteratorTest, RefusesWhatItCannotShow) {
  TestDb db(config_);
  std::unique_ptr<rocksdb::Iterator> rows;
  const auto refusal = [&](const std::string& condition, const rocksdb::ReadOptions& options) {
    rows.reset(rocksdb::NewEmptyIterator());
    const rocksdb::Status status = NewIterator(&db.db(), nullptr, condition, options, &rows);
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_EQ(rows, nullptr);
    return status.ToString();
  };
  EXPECT_NE(refusal("m = 7", {}).find("column"), std::string::npos);
  EXPECT_NE(refusal("n = 7 LIMIT 3", {}).find("LIMIT"), std::string::npos);
  rocksdb::ReadOptions options;
  options.tailing = true;
  EXPECT_NE(refusal("", options).find("tailing"), std::string::npos);
  options = {};
  const rocksdb::Slice time("12345678");
  options.iter_start_ts = &time;
  EXPECT_NE(refusal("n = 7", options).find("iter_start_ts"), std::string::npos);
}

// RocksDB copies all options under the mutex of the database.
TEST_F(NewIteratorTest, EachCallAsksForTheOptionsOnce) {
  class CountingDb final : public rocksdb::StackableDB {
   public:
    using StackableDB::StackableDB;
    rocksdb::Options GetOptions(rocksdb::ColumnFamilyHandle* family) const override {
      ++num_copies;
      return StackableDB::GetOptions(family);
    }
    mutable int num_copies = 0;
  };
  TestDb db(config_);
  Fill(&db.db());
  CountingDb counting(std::shared_ptr<rocksdb::DB>(&db.db(), [](rocksdb::DB*) {}));
  std::shared_ptr<ReadPruning> pruning;
  MustBeOk(PruneReads(&counting, nullptr, "n = 7", {}, &pruning));
  EXPECT_EQ(std::exchange(counting.num_copies, 0), 1);
  EXPECT_NE(Open(&counting), nullptr);
  EXPECT_EQ(std::exchange(counting.num_copies, 0), 1);
  std::unique_ptr<SkipScan> scan;
  MustBeOk(SkipScan::Create(&counting, nullptr, "n = 7", {}, &scan));
  EXPECT_EQ(counting.num_copies, 1);
}

// A virtual function that RocksDB adds must be forwarded, or stated here.
TEST_F(NewIteratorTest, ForwardsEveryVirtualOfTheVersion) {
  const std::set<std::string> known = {
      "~Iterator",   "~IteratorBase", "Valid",   "SeekToFirst",  "SeekToLast", "Seek",
      "SeekForPrev", "Next",          "Prev",    "key",          "value",      "columns",
      "status",      "Refresh",       "Prepare", "PrepareValue", "timestamp",  "GetProperty"};
  size_t num_found = 0;
  for (const std::string header : {"iterator.h", "iterator_base.h"}) {
    std::ifstream file(std::string(ROCKSDB_HEADERS "/rocksdb/") + header);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const std::regex function("virtual [^;{(]*?(~?\\w+)\\(");
    for (std::sregex_iterator at(text.begin(), text.end(), function), end; at != end; ++at) {
      EXPECT_TRUE(known.contains((*at)[1])) << (*at)[1] << " in " << header;
      ++num_found;
    }
  }
  EXPECT_GE(num_found, 15U);
}

}  // namespace
}  // namespace blocksieve
