#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/slice_transform.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// tests/PITFALLS.md, 23: user-defined timestamps are no part of the key, nor of its prefix, that a
// filter sees.

namespace ROCKSDB_NAMESPACE {
// In the library since 7.0, in its public headers only later.
extern const Comparator* BytewiseComparatorWithU64Ts();
}  // namespace ROCKSDB_NAMESPACE

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

std::string Timestamp(uint64_t time) {
  std::string bytes(sizeof(time), '\0');
  std::memcpy(bytes.data(), &time, sizeof(time));  // as EncodeU64Ts of RocksDB on little-endian
  return bytes;
}

struct Case {
  const char* name;
  FilterShape shape;
  size_t prefix_bytes;  // 0: none
  bool whole_keys;
};

class Timestamps : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr uint64_t kKeys = 600;
  static constexpr uint64_t kTimes = 4;

  Timestamps() {
    config_ = MakeConfig(GetParam().shape, PolicyFromString("blocksieve:0.01"));
    config_.options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
    config_.table.whole_key_filtering = GetParam().whole_keys;
    if (GetParam().prefix_bytes > 0) {
      config_.options.prefix_extractor.reset(
          rocksdb::NewFixedPrefixTransform(GetParam().prefix_bytes));
    }
  }

  static std::string Key(uint64_t i) { return GroupKey(2 * (i / 10), 2 * (i % 10)); }

  static void Write(TestDb* db) {
    for (uint64_t time = 1; time <= kTimes; ++time) {
      for (uint64_t i = 0; i < kKeys; ++i) {
        if (i % kTimes >= time) continue;  // later keys appear later
        MustBeOk((*db)->Put({}, Key(i), Timestamp(10 * time), "value " + std::to_string(time)),
                 "put");
      }
      MustBeOk((*db)->Put({}, "", Timestamp(10 * time), "value " + std::to_string(time)), "put");
      db->Flush();
    }
  }

  // Of how many keys the value at `time` is right, by Get and by MultiGet.
  static uint64_t CountRight(TestDb* db, uint64_t time) {
    const std::string text = Timestamp(10 * time + 5);
    const rocksdb::Slice timestamp(text);
    rocksdb::ReadOptions at;
    at.timestamp = &timestamp;
    uint64_t right = 0;
    for (uint64_t i = 0; i < kKeys; ++i) {
      std::string value;
      const rocksdb::Status status = (*db)->Get(at, Key(i), &value);
      const bool there = i % kTimes < time;
      right +=
          there ? status.ok() && value == "value " + std::to_string(time) : status.IsNotFound();
    }
    for (uint64_t first = 0; first < kKeys; first += 30) {
      std::vector<std::string> keys;
      for (uint64_t i = first; i < first + 30; ++i) keys.push_back(Key(i));
      const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
      std::vector<rocksdb::PinnableSlice> values(30);
      std::vector<rocksdb::Status> statuses(30);
      (*db)->MultiGet(at, (*db)->DefaultColumnFamily(), 30, slices.data(), values.data(),
                      statuses.data());
      for (uint64_t i = 0; i < 30; ++i) {
        const bool there = (first + i) % kTimes < time;
        right += there ? statuses[i].ok() && values[i] == "value " + std::to_string(time)
                       : statuses[i].IsNotFound();
      }
    }
    std::string value;
    right += (*db)->Get(at, "", &value).ok();
    // What nobody wrote.
    for (uint64_t i = 0; i < kKeys; ++i) {
      EXPECT_TRUE((*db)->Get(at, GroupKey(2 * (i / 10) + 1, i % 10), &value).IsNotFound());
      EXPECT_TRUE((*db)->Get(at, Key(i) + "+", &value).IsNotFound());
    }
    return right;
  }

  DbConfig config_;
};

TEST_P(Timestamps, EveryVersionIsFoundAtItsTime) {
  TestDb db(config_);
  Write(&db);
  for (const bool compacted : {false, true}) {
    if (compacted) db.Compact();
    for (uint64_t time = 1; time <= kTimes; ++time) {
      EXPECT_EQ(CountRight(&db, time), 2 * kKeys + 1) << "time " << time;
    }
  }
  EXPECT_GT(db.Use().rejected, 0u);
  // Versions of a key count once: the filter has keys, not versions.
  const uint64_t entries = db.FilterEntries();
  // With prefixes alone, RocksDB adds one that is empty before the first.
  const uint64_t whole = GetParam().whole_keys ? kKeys + 1 : 1;
  const uint64_t prefixes = GetParam().prefix_bytes > 0 ? kKeys / 10 : 0;
  if (GetParam().shape == FilterShape::kFull) {
    EXPECT_EQ(entries, whole + prefixes);
  } else {
    EXPECT_GE(entries, whole + prefixes);
    EXPECT_LE(entries, (whole + prefixes) * 3 / 2 + 20);
  }
}

class TimestampsAndPrefixes : public Timestamps {};

TEST_P(TimestampsAndPrefixes, IteratorsWithinAPrefixFindIt) {
  TestDb db(config_);
  Write(&db);
  const std::string text = Timestamp(10 * kTimes + 5);
  const rocksdb::Slice timestamp(text);
  rocksdb::ReadOptions within_prefix;
  within_prefix.timestamp = &timestamp;
  within_prefix.prefix_same_as_start = true;
  for (const bool compacted : {false, true}) {
    if (compacted) db.Compact();
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(within_prefix));
    for (uint64_t group = 0; group < kKeys / 10; ++group) {
      int found = 0;
      for (it->Seek(GroupPrefix(2 * group)); it->Valid(); it->Next()) ++found;
      EXPECT_EQ(found, 10) << "group " << group;
      it->Seek(GroupPrefix(2 * group + 1));
      EXPECT_FALSE(it->Valid());
    }
  }
  EXPECT_GT(db.Use().prefix_rejected, 0u);
}

constexpr Case kWithoutPrefixes[] = {
    {"WholeKeysFull", FilterShape::kFull, 0, true},
    {"WholeKeysPartitioned", FilterShape::kPartitioned, 0, true},
};
constexpr Case kWithPrefixes[] = {
    {"BothFull", FilterShape::kFull, kGroupPrefixBytes, true},
    {"BothPartitioned", FilterShape::kPartitioned, kGroupPrefixBytes, true},
    {"PrefixesFull", FilterShape::kFull, kGroupPrefixBytes, false},
    {"PrefixesPartitioned", FilterShape::kPartitioned, kGroupPrefixBytes, false},
};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(WithoutPrefixes, Timestamps, ::testing::ValuesIn(kWithoutPrefixes),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(WithPrefixes, Timestamps, ::testing::ValuesIn(kWithPrefixes), NameOf);
INSTANTIATE_TEST_SUITE_P(WithPrefixes, TimestampsAndPrefixes, ::testing::ValuesIn(kWithPrefixes),
                         NameOf);

}  // namespace
}  // namespace blocksieve
