#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <cctype>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/rocksdb/scan/skip_test_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

// tests/PITFALLS.md, 23: the keys and prefixes in a filter have no user-defined timestamps.

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

struct Filtering {
  const char* name;
  bool whole_keys;
  bool prefixes;
};

class Timestamps : public ::testing::TestWithParam<std::tuple<Filtering, FilterShape>> {
 protected:
  static constexpr uint64_t kKeys = 600;
  static constexpr uint64_t kTimes = 4;

  Timestamps() {
    config_ = MakeConfig(shape(), PolicyFromString("blocksieve:0.01"));
    config_.options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
    if (filtering().prefixes) UsePrefixes(&config_, kGroupPrefixBytes, filtering().whole_keys);
  }

  static const Filtering& filtering() { return std::get<0>(GetParam()); }
  static FilterShape shape() { return std::get<1>(GetParam()); }

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

  // Keys that exist at `time`, and absent ones: keys of later times, and keys never written.
  static TestDb::Model ModelAt(uint64_t time, std::vector<std::string>* absent) {
    TestDb::Model model;
    const std::string value = "value " + std::to_string(time);
    model[""] = value;
    for (uint64_t i = 0; i < kKeys; ++i) {
      i % kTimes < time ? model[Key(i)] = value : absent->emplace_back(Key(i));
      absent->push_back(Key(i) + "+");
    }
    const std::vector<std::string> nobodys = GroupKeys(1, kKeys / 10, 10);
    absent->insert(absent->end(), nobodys.begin(), nobodys.end());
    return model;
  }

  DbConfig config_;
};

TEST_P(Timestamps, EveryVersionIsFoundAtItsTime) {
  TestDb db(config_);
  Write(&db);
  for (const bool compacted : {false, true}) {
    if (compacted) db.Compact();
    for (uint64_t time = 1; time <= kTimes; ++time) {
      const std::string text = Timestamp(10 * time + 5);
      const rocksdb::Slice timestamp(text);
      rocksdb::ReadOptions at;
      at.timestamp = &timestamp;
      std::vector<std::string> absent;
      TestDb::Model model = ModelAt(time, &absent);
      EXPECT_EQ(CheckReads(&db.db(), model, absent, at), "") << "time " << time;
      if (!filtering().prefixes) continue;
      at.prefix_same_as_start = true;
      model.erase("");  // too short for a prefix
      EXPECT_EQ(CheckPrefixScans(&db.db(), model, GroupPrefixes(1, kKeys / 10), at), "");
    }
  }
  EXPECT_GT(db.Use().all_rejected(), 0u);
  EXPECT_EQ(db.Use().prefix_rejected > 0, filtering().prefixes);
  // The filter counts keys, not their versions.
  const uint64_t entries = db.FilterEntries();
  const uint64_t whole = filtering().whole_keys ? kKeys + 1 : 0;
  const uint64_t prefixes = filtering().prefixes ? kKeys / 10 : 0;
  if (shape() == FilterShape::kFull) {
    // With prefixes only, RocksDB before 9.6 adds an empty one before the first.
    EXPECT_LE(entries - whole - prefixes, filtering().whole_keys ? 0u : 1u);
  } else {
    EXPECT_GE(entries, whole + prefixes);
    EXPECT_LE(entries, (whole + prefixes) * 3 / 2 + 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Filterings, Timestamps,
                         ::testing::Combine(::testing::Values(Filtering{"WholeKeys", true, false},
                                                              Filtering{"Both", true, true},
                                                              Filtering{"Prefixes", false, true}),
                                            kBothShapes),
                         ParamNames());

// A comparator for which keys with different bytes can be equal (tests/PITFALLS.md, needs, 9).
class CaseInsensitive final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "CaseInsensitive"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return Lower(a).compare(Lower(b));
  }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Lower(const rocksdb::Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
  }
};

class KeyEquality : public SkipFixture, public ::testing::WithParamInterface<FilterShape> {
 protected:
  KeyEquality() {
    config_.table = MakeConfig(GetParam(), PolicyFromString("blocksieve:0.01")).table;
    config_.options.comparator = &comparator_;
  }

  CaseInsensitive comparator_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, KeyEquality, kBothShapes, ParamNames());

TEST_P(KeyEquality, WithoutWholeKeyFiltersKeysOfOtherBytesAreFound) {
  config_.table.whole_key_filtering = false;
  TestDb db(config_);
  Fill(&db.db());
  std::string value;
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(db->Get({}, "K" + Key(i).substr(1), &value).ok());
    ASSERT_TRUE(db->Get({}, Key(i), &value).ok());
  }
}

// Indexes are on values, and keys of granules bound ranges in the comparator's order. Rows have the
// key written last, as in a full scan. Only backwards, RocksDB's iterators show the first key.
TEST_P(KeyEquality, ScansUseTheComparator) {
  config_.table.whole_key_filtering = false;
  TestDb db(config_);
  Fill(&db.db());
  for (uint64_t i = 0; i < 200; i += 2) {
    MustBeOk(db->Put({}, "K" + Key(i).substr(1), Value(7)), "overwrite");
  }
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) MustBeOk(db->Flush({}), "flush");
    // 100 overwritten rows, and five others.
    for (const auto& [where, num_rows] : {std::pair("n = 7", 105u), std::pair("n = 8", 5u)}) {
      SkipScanOptions options = AlwaysSkip();
      ScanExplanation explanation;
      const ScannedRows rows = Scan(&db.db(), nullptr, Is(where), options, &explanation);
      EXPECT_EQ(rows.size(), num_rows);
      EXPECT_FALSE(explanation.is_full_scan);
      options.reverse = true;
      EXPECT_EQ(Scan(&db.db(), nullptr, Is(where), options).size(), num_rows);
      options.reverse = false;
      options.use_index = false;
      EXPECT_EQ(rows, Scan(&db.db(), nullptr, Is(where), options));
    }
  }
}

}  // namespace
}  // namespace blocksieve
