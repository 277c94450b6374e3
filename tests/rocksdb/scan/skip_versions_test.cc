#include <gtest/gtest.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/snapshot.h>
#include <rocksdb/wide_columns.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/rocksdb/scan/skip_test_db.h"

// Deletes, overwrites, merges, blobs, entities and missing values: scans with and without the index
// return the same rows.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class SkipVersions : public SkipFixture {
 protected:
  static constexpr uint64_t kRows = 400;

  // Row i has the number i / 10: clustered.
  void Fill(TestDb* db) {
    for (uint64_t i = 0; i < kRows; ++i) db->Put(Key(i), Value(i / 10, "old"));
    db->Flush();
    db->Compact();
  }
};

TEST_F(SkipVersions, OverwrittenAndDeletedRowsDoNotComeBack) {
  TestDb db(config_);
  Fill(&db);
  for (uint64_t i = 0; i < kRows; i += 3) db.Put(Key(i), Value(1000 + i, "new"));
  db.Delete(Key(71));
  db.SingleDelete(Key(73));
  db.DeleteRange(Key(76), Key(78));
  db.DeleteRange(Key(200), Key(300));
  ForEachState(&db, [&](const auto&) {
    ScanExplanation explanation;
    EXPECT_EQ(KeysOf(ScanBoth(&db.db(), Is("n = 7"), &explanation)),
              (std::vector<std::string>{Key(70), Key(74), Key(79)}));
    EXPECT_FALSE(explanation.is_full_scan) << explanation.ToText();
    EXPECT_LT(explanation.granules_selected, explanation.num_granules / 2);
    EXPECT_EQ(Count(db.db(), "n = 1072"), 1u);
    EXPECT_EQ(Count(db.db(), "n = 25"), 0u);
    EXPECT_EQ(Count(db.db(), "n >= 19 AND n < 31 AND NOT t = 'new'"), 13u);
    EXPECT_EQ(Count(db.db(), "TRUE"), kRows - 104);
  });
  // Rows written again come back.
  db.Put(Key(250), Value(25, "again"));
  EXPECT_EQ(Count(db.db(), "n = 25"), 1u);
  db.Flush();
  EXPECT_EQ(Count(db.db(), "n = 25"), 1u);
}

TEST_F(SkipVersions, MergeOperandsMakeValuesThatNoFileHas) {
  for (const std::string name : {"stringappend", "put"}) {
    UseMergeOperator(&config_, name);
    TestDb db(config_);
    Fill(&db);
    MustBeOk(db->Merge({}, Key(70), "99\tmerged"), "merge");
    MustBeOk(db->Merge({}, Key(700), "7\talone"), "merge");
    ForEachState(&db, [&](const auto&) {
      ScanExplanation explanation;
      // "7<TAB>old,99<TAB>merged" has the text "old,99".
      EXPECT_EQ(Count(db.db(), "t = 'old,99'", &explanation), name == "stringappend" ? 1u : 0u);
      EXPECT_EQ(Count(db.db(), "n = 99"), name == "put" ? 1u : 0u);
      EXPECT_EQ(Count(db.db(), "n = 7"), name == "put" ? 10u : 11u);
    });
  }
}

/// Fails without a value below, like merge operators of counters.
class NeedsBase final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "NeedsBase"; }
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& operand,
             std::string* merged, rocksdb::Logger*) const override {
    if (existing == nullptr) return false;
    *merged = existing->ToString() + operand.ToString();
    return true;
  }
};

TEST_F(SkipVersions, OperandsThatNeedAValueAreReadOnTheMergedView) {
  config_.options.merge_operator = std::make_shared<NeedsBase>();
  TestDb db(config_);
  Fill(&db);
  for (uint64_t i = 5; i < kRows; i += 50) MustBeOk(db->Merge({}, Key(i), "+"), "merge");
  for (uint64_t i = 0; i < kRows; i += 7) db.Put(Key(i), Value(2000, "new"));
  ForEachState(&db, [&](const auto&) {
    ScanExplanation explanation;
    EXPECT_EQ(Count(db.db(), "t = 'old+'", &explanation), 7u) << explanation.ToText();
    EXPECT_GT(Count(db.db(), "n = 2000"), 50u);
    EXPECT_GT(Count(db.db(), "n = 39"), 5u);
  });
}

TEST_F(SkipVersions, BlobValuesAreReadWhateverTheIndexSays) {
  config_.options.enable_blob_files = true;
  config_.options.min_blob_size = 20;
  TestDb db(config_);
  for (uint64_t i = 0; i < kRows; ++i) {
    db.Put(Key(i), Value(i / 10, i % 100 == 5 ? std::string(50, 'b') : "short"));
  }
  for (const std::string state : {"memtable", "flushed", "overlapped", "compacted"}) {
    if (state == "flushed") db.Flush();
    if (state == "overlapped") {
      for (uint64_t i = 0; i < kRows; i += 9) db.Put(Key(i), Value(i / 10, "newer"));
      db.Flush();
    }
    if (state == "compacted") db.Compact();
    ScanExplanation explanation;
    EXPECT_GE(Count(db.db(), "n = 10", &explanation), 10u) << state;
    EXPECT_GE(Count(db.db(), "t LIKE 'bbb%'"), 3u) << state;
    if (state == "compacted") {
      EXPECT_GT(explanation.granules_always_match, 0u);
      EXPECT_LT(explanation.granules_selected, explanation.num_granules / 2);
    }
  }
}

TEST_F(SkipVersions, WideColumnEntitiesAreReadAsIteratorsReturnThem) {
  TestDb db(config_);
  Fill(&db);
  MustBeOk(db->PutEntity({}, db->DefaultColumnFamily(), Key(70),
                         {{rocksdb::kDefaultWideColumnName, "7\tentity"}, {"other", "x"}}),
           "entity");
  MustBeOk(db->PutEntity({}, db->DefaultColumnFamily(), Key(71), {{"other", "7\tentity"}}),
           "entity");
  ForEachState(&db, [&](const auto&) {
    EXPECT_EQ(KeysOf(ScanBoth(&db.db(), Is("t = 'entity'"))), std::vector<std::string>{Key(70)});
    EXPECT_EQ(Count(db.db(), "n = 7"), 9u);
  });
}

TEST_F(SkipVersions, TheLastRowBeforeASnapshotIsSeenAndNoLaterOne) {
  TestDb db(config_);
  db.Put(Key(0), Value(7));
  rocksdb::ManagedSnapshot snapshot(&db.db());
  db.Put(Key(1), Value(7));
  SkipScanOptions options = AlwaysSkip();
  options.snapshot = snapshot.snapshot();
  ForEachState(&db, [&](const auto&) {
    EXPECT_EQ(Count(db.db(), "n = 7", nullptr, options), 1u);
    EXPECT_EQ(Count(db.db(), "n = 7"), 2u);
  });
}

TEST_F(SkipVersions, ExplanationsSayWhatWasPruned) {
  TestDb db(config_);
  for (uint64_t i = 0; i < 400; ++i) db.Put(Key(i), Value(i / 4, "same"));
  db.Flush();
  db.Compact();
  ScanExplanation explanation;
  EXPECT_EQ(Count(db.db(), "n = 7 AND t LIKE '%a%'", &explanation), 4u);
  EXPECT_FALSE(explanation.is_full_scan);
  EXPECT_EQ(explanation.num_files, 1u);
  EXPECT_EQ(explanation.num_granules, 100u);
  EXPECT_EQ(explanation.granules_selected, 1u);
  ASSERT_EQ(explanation.comparisons.size(), 2u);
  EXPECT_EQ(explanation.comparisons[0].column, "n");
  EXPECT_TRUE(explanation.comparisons[0].is_used);
  EXPECT_EQ(explanation.comparisons[0].num_granules, 100u);
  EXPECT_EQ(explanation.comparisons[0].granules_selected, 1u);
  EXPECT_FALSE(explanation.comparisons[1].is_used);
  EXPECT_NE(explanation.comparisons[1].reason, "");
  EXPECT_GT(explanation.index_bytes_touched, 0u);
  ASSERT_EQ(explanation.columns.size(), 1u);
  EXPECT_EQ(explanation.rows_returned, 4u);
  EXPECT_EQ(explanation.key_ranges_read, 1u);
  const std::string text = explanation.ToText();
  for (const char* const part : {"n = 7", "not used", "granules: 1/100", "returned 4"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

}  // namespace
}  // namespace blocksieve
