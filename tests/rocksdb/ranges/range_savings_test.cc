#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/rocksdb/ranges/range_db.h"
#include "tests/support/db_checks.h"
#include "tests/support/logs.h"

// Reads that range filters save, their counters, and cases without an answer.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr uint64_t kFiles = 5;

class RangeSavings : public ::testing::TestWithParam<FilterShape> {
 protected:
  static std::unique_ptr<TestDb> Make(const DbConfig& config) {
    auto db = std::make_unique<TestDb>(config);
    for (uint64_t file = 0; file < kFiles; ++file) {
      WriteRangeFile(&db->db(), (*db)->DefaultColumnFamily(), file);
    }
    return db;
  }
  static EmptySeeks Seek(TestDb* db, const rocksdb::ReadOptions& read) {
    return SeekEmptyRanges(&db->db(), (*db)->DefaultColumnFamily(), read);
  }
};

TEST_P(RangeSavings, EmptySeeksReadNoBlocks) {
  DbConfig config = RangeConfig(GetParam());
  const auto db = Make(config);
  const EmptySeeks plain = Seek(db.get(), {});
  EXPECT_EQ(plain.found, 0u);
  const EmptySeeks filtered = Seek(db.get(), RangeRead());
  EXPECT_EQ(filtered.found, 0u);
  // Each file's filter answers "no", except for its FPR of 0.012.
  const uint64_t asked = kFiles * filtered.seeks;
  EXPECT_EQ(filtered.counts.total(), asked);
  EXPECT_EQ(filtered.counts.no + filtered.counts.may_match + filtered.counts.beyond_partition,
            asked);
  const uint64_t passed = asked - filtered.counts.no;
  EXPECT_LT(passed, GetParam() == FilterShape::kFull ? asked / 40 : asked / 20);
  if (GetParam() == FilterShape::kFull) {
    EXPECT_EQ(filtered.counts.beyond_partition, 0u);
  }
  EXPECT_LE(filtered.blocks, passed);
  EXPECT_LT(filtered.blocks * 10, plain.blocks);
  // Without auto_prefix_mode filters are queried without the range.
  EXPECT_EQ(plain.counts.total(), asked);
  EXPECT_EQ(plain.counts.no_bound, asked);
}

TEST_P(RangeSavings, CountersReportEachOutcome) {
  const auto db = Make(RangeConfig(GetParam()));
  const std::string last(9, '\xff');
  const rocksdb::Slice bound(last);
  rocksdb::ReadOptions read = RangeRead();
  read.iterate_upper_bound = &bound;
  const auto count = [&](const std::string& begin) {
    const RangeFilterCounts before = GetRangeFilterCounts();
    const std::unique_ptr<rocksdb::Iterator> iterator((*db)->NewIterator(read));
    iterator->Seek(begin);
    return CountsSince(before);
  };
  EXPECT_EQ(count(RangeKey(1)).may_match, kFiles) << "holds keys";
  EXPECT_EQ(count("").empty_begin, kFiles);
  // After all keys of a partition, which does not know the next one's.
  const RangeFilterCounts counts = count(std::string(8, '\xff'));
  EXPECT_EQ(counts.no + counts.may_match + counts.beyond_partition,
            counts.beyond_partition > 0 || GetParam() == FilterShape::kFull ? kFiles : 0);
}

TEST_P(RangeSavings, SeeksOfFilesWithoutRangesAreCounted) {
  DbConfig points = RangeConfig(GetParam());
  points.table.filter_policy = PolicyFromString("blocksieve");
  const auto db = Make(points);
  const EmptySeeks seeks = Seek(db.get(), RangeRead());
  EXPECT_EQ(seeks.counts.no_range_filter, kFiles * seeks.seeks);
  EXPECT_EQ(seeks.counts.total(), kFiles * seeks.seeks);
  EXPECT_EQ(seeks.blocks, Seek(db.get(), {}).blocks);
}

TEST_P(RangeSavings, AlikeKeysGetNoRangeFilterAndOneLogLine) {
  DbConfig config = RangeConfig(GetParam());
  auto log = std::make_shared<MemoryLogger>();
  config.options.info_log = log;
  TestDb db(config);
  // Neighbours differ in the last byte.
  for (uint64_t i = 0; i < 6000; ++i) {
    db.Put(RangeKey(i / 3) + "file" + std::to_string(i % 3), "value");
  }
  db.Flush();
  const std::string line = "column family default: no range filter written for a file";
  const size_t first = log->text().find(line);
  EXPECT_NE(log->text().find("reason: keys are too similar", first), std::string::npos);
  EXPECT_EQ(log->text().rfind(line), first) << log->text();
  EXPECT_EQ(CheckReads(&db.db(), db.model(), {"absent"}), "");
  const EmptySeeks seeks = Seek(&db, RangeRead());
  EXPECT_EQ(seeks.counts.no_range_filter, seeks.counts.total());
  EXPECT_EQ(seeks.counts.total(), seeks.seeks);
}

// Runs in its own process, without earlier queries.
void WarnOfUnboundedSeeks() {
  DbConfig config = RangeConfig(FilterShape::kFull);
  TestDb db(config);
  WriteRangeFile(&db.db(), db->DefaultColumnFamily(), 0, 100);
  // The warning comes with the thousandth query of a thread.
  const std::string loud = StderrOf([&] {
    SeekEmptyRanges(&db.db(), db->DefaultColumnFamily(), {}, 3000);
    SeekEmptyRanges(&db.db(), db->DefaultColumnFamily(), RangeRead(), 3000);
    SeekEmptyRanges(&db.db(), db->DefaultColumnFamily(), {}, 3000);
  });
  std::fprintf(stderr, "%s", loud.c_str());
  const size_t first = loud.find("no seek has an upper bound");
  const bool once = first != std::string::npos &&
                    loud.find("no seek has an upper bound", first + 1) == std::string::npos;
  std::exit(once ? 0 : 1);
}

// No warning if some queries have ranges: the program then sets bounds on purpose.
void AskBoth() {
  TestDb db(RangeConfig(FilterShape::kFull));
  WriteRangeFile(&db.db(), db->DefaultColumnFamily(), 0, 100);
  SeekEmptyRanges(&db.db(), db->DefaultColumnFamily(), RangeRead(), 10);
  const std::string loud =
      StderrOf([&] { SeekEmptyRanges(&db.db(), db->DefaultColumnFamily(), {}, 3000); });
  std::fprintf(stderr, "'%s'", loud.c_str());
  std::exit(loud.empty() ? 0 : 1);
}

TEST(RangeWarning, ComesOnceAndOnlyIfNoSeekHasABound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child restarts the program
  EXPECT_EXIT(WarnOfUnboundedSeeks(), ::testing::ExitedWithCode(0), "iterate_upper_bound");
  EXPECT_EXIT(AskBoth(), ::testing::ExitedWithCode(0), "''");
}

INSTANTIATE_TEST_SUITE_P(Shapes, RangeSavings, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
