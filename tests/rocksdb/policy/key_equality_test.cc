#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <cctype>
#include <string>
#include <utility>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/rocksdb/scan/skip_fixture.h"

// A comparator for which keys of other bytes are equal (tests/PITFALLS.md, needs, 9).

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

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

INSTANTIATE_TEST_SUITE_P(Shapes, KeyEquality,
                         ::testing::Values(FilterShape::kFull, FilterShape::kPartitioned),
                         [](const auto& info) { return FilterShapeName(info.param); });

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

// Indexes are of values, and keys of granules bound ranges in the comparator's order. Rows have the
// key that was written last, as a full scan's; only backwards RocksDB's iterators show the first.
TEST_P(KeyEquality, ScansGoByTheComparator) {
  config_.table.whole_key_filtering = false;
  TestDb db(config_);
  Fill(&db.db());
  for (uint64_t i = 0; i < 200; i += 2) {
    MustBeOk(db->Put({}, "K" + Key(i).substr(1), Value(7)), "overwrite");
  }
  for (const bool is_flushed : {false, true}) {
    if (is_flushed) MustBeOk(db->Flush({}), "flush");
    // 100 that were overwritten, and five that were not.
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
