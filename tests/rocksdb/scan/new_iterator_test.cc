// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/utilities/stackable_db.h>

#include <fstream>
#include <regex>
#include <set>
#include <utility>

#include "integration/rocksdb/compat/version_differences.h"
#include "tests/rocksdb/scan/skip_test_db.h"

// Iterators over the rows that match a condition. RandomDatabaseTest compares their moves.

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
};

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
  EXPECT_EQ(Read(rows.get()).size(), 30U);
}

// Rows that cannot match have operands in the file that is read, and their bases in the other one.
TEST_F(NewIteratorTest, ReadsOnWhereAMergeLacksItsBase) {
  DbConfig config = SkipConfig({.index = ShortGranules({"k=filters:key:fixed(-1,1)", "v=value"})});
  config.options.merge_operator = std::make_shared<NeedsBase>();
  TestDb db(config);
  const auto put = [&](char last, const std::string& value) {
    for (uint64_t i = 0; i < 50; ++i) db.Put(Key(i) + last, value);
    db.Flush();
  };
  put('a', "base");
  for (uint64_t i = 0; i < 50; i += 3) MustBeOk(db->Merge({}, Key(i) + 'a', "+"));
  put('b', "row");
  const auto rows = Open(&db.db(), "k = 'b' AND v != 'x'");
  const auto expect = [&](uint64_t number) {
    ASSERT_TRUE(rows->Valid()) << number << rows->status().ToString();
    EXPECT_EQ(rows->key().ToString(), Key(number) + 'b');
  };
  EXPECT_NE(Property(rows.get()).find("1 pruned"), std::string::npos) << Property(rows.get());
  for (const uint64_t number : {0, 3, 4, 30}) {
    rows->Seek(Key(number));
    for (uint64_t i = number; i < 50; rows->Next()) expect(i++);
    rows->SeekForPrev(Key(number) + 'z');
    for (uint64_t i = number + 1; i > 0; rows->Prev()) expect(--i);
  }
  db.Put(Key(7) + 'b', "x");
  EXPECT_EQ(Read(rows.get()).size(), 50U);  // of the moment when it was made
  ASSERT_TRUE(rows->Refresh().ok());
  EXPECT_EQ(Read(rows.get()).size(), 49U);
  // Values need what other files have, wherever they lie.
  const auto either = Open(&db.db(), "v = 'base+' OR k = 'b'");
  EXPECT_EQ(Read(either.get()).size(), 67U);
  EXPECT_EQ(Property(either.get()).find("pruned"), std::string::npos) << Property(either.get());
  const auto all = Open(&db.db(), "v = 'base+'");
  EXPECT_EQ(Read(all.get()).size(), 17U);
  EXPECT_NE(Property(all.get()).find("reads all: option merge_operator"), std::string::npos);
  std::shared_ptr<ReadPruning> pruning;
  EXPECT_TRUE(PruneReads(&db.db(), nullptr, "k = 'b'", {}, &pruning).IsNotSupported());
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
