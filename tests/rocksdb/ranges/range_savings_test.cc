// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <random>
#include <set>

#include "blocksieve/hash.h"
#include "blocksieve/tree.h"
#include "tests/rocksdb/ranges/range_db.h"
#include "tests/support/faulty_disks.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"

// Reads that range filters save, their counters, and cases without an answer.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

constexpr uint64_t kFiles = 5;

class RangeSavingsTest : public ::testing::TestWithParam<FilterShape> {
 protected:
  static std::unique_ptr<TestDb> Make(const DbConfig& config) {
    auto db = std::make_unique<TestDb>(config);
    for (uint64_t file = 0; file < kFiles; ++file) {
      WriteRangeFile(db.get(), file);
    }
    return db;
  }
};

TEST_P(RangeSavingsTest, EmptySeeksReadNoBlocks) {
  DbConfig config = RangeConfig(GetParam());
  const auto db = Make(config);
  const EmptySeeks plain = SeekEmptyRanges(db.get(), {});
  EXPECT_EQ(plain.found, 0u);
  const EmptySeeks filtered = SeekEmptyRanges(db.get(), RangeRead());
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

TEST_P(RangeSavingsTest, CountersReportEachOutcome) {
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

// Files with plain_range_reads have another name of the extractor. It stays out of OPTIONS, however
// many such files the thread wrote before.
TEST(RangeOptionsTest, GoThroughOptionsFilesWithoutTheMarksOfFiles) {
  const TempDir dir;
  const std::string path = dir / "db";
  const DbConfig config =
      RangeConfig(FilterShape::kFull, {.range_fpr = 0.02, .plain_range_reads = true});
  const std::string policy = config.table.filter_policy->ToString(StrictConfig());
  rocksdb::Options options = config.ToOptions();
  for (uint64_t round = 0; round < 3; ++round) {
    std::unique_ptr<rocksdb::DB> db = OpenDb(options, path);
    WriteRangeFile(db.get(), db->DefaultColumnFamily(), round);
    MustBeOk(db->SetOptions({{"write_buffer_size", std::to_string(1'000'000 + round)}}));
    for (const bool is_compacted : {false, true}) {
      if (is_compacted) MustBeOk(db->CompactRange({}, nullptr, nullptr));
      const EmptySeeks seeks = SeekEmptyRanges(db.get(), db->DefaultColumnFamily(), {}, 500);
      EXPECT_EQ(seeks.found, 0u);
      EXPECT_GT(seeks.counts.no, 470u);
    }
    for (const auto& [name, properties] : FilesOf(*db)) {
      EXPECT_EQ(properties->prefix_extractor_name, "blocksieve.range.file") << name;
    }
    db.reset();
    const StoredOptions stored(path);
    EXPECT_EQ(stored.filter_policy()->ToString(StrictConfig()), policy);
    EXPECT_STREQ(stored.column_family().prefix_extractor->Name(), "blocksieve.range");
    options = rocksdb::Options(stored.db, stored.column_family());
  }
}

// Keys of several kinds in one file: some partitions answer, others have keys that are too similar.
TEST(RangeOptionsTest, AFileIsMarkedIfAnyOfItsPartitionsAnswers) {
  for (const char first : {'\0', '\x7f', '\xff'}) {
    const std::string start(3, first);
    TestDb db(RangeConfig(FilterShape::kPartitioned, {.plain_range_reads = true}));
    for (uint64_t i = 0; i < 9000; ++i) {
      db.Put(start + RangeKey(i / 3) + "file" + std::to_string(i % 3), "value");
    }
    WriteRangeFile(&db, 0, 6000);
    for (const auto& [name, properties] : FilesOf(db.db())) {
      EXPECT_EQ(properties->prefix_extractor_name, "blocksieve.range.file") << int{first};
    }
    const EmptySeeks seeks = SeekEmptyRanges(&db, {});
    EXPECT_GT(seeks.counts.no, seeks.seeks / 2) << int{first};
  }
}

// What a writer leaves on its thread would get into the next OPTIONS file of any database.
TEST(RangeOptionsTest, UnfinishedFilesOfTheThreadDoNotMarkThem) {
  const auto disk = std::make_shared<FullDisk>(0, /*tables_only=*/true);
  const auto env = rocksdb::NewCompositeEnv(disk);
  std::set<std::string> keys;
  for (uint64_t i = 0; i < 4000; ++i) keys.insert(RangeKey(i));
  for (const FilterShape shape : {FilterShape::kFull, FilterShape::kPartitioned}) {
    const DbConfig config = RangeConfig(shape, {.plain_range_reads = true});
    TestDb db(config);
    rocksdb::Options options = config.ToOptions();
    options.env = env.get();
    const std::string path = db.dir() / "new.sst";
    const auto expect_unmarked = [&](const std::string& when) {
      for (const auto& entry : std::filesystem::directory_iterator(db.path())) {
        if (!entry.path().filename().string().starts_with("OPTIONS-")) continue;
        EXPECT_EQ(CountOf(ReadFile(entry.path()), "blocksieve.range.file"), 0u) << when;
      }
    };
    const auto create_family = [&](const std::string& when) {
      rocksdb::ColumnFamilyHandle* family = nullptr;
      MustBeOk(db->CreateColumnFamily(config.ToOptions(), when, &family));
      MustBeOk(db->DestroyColumnFamilyHandle(family));
      expect_unmarked(when);
    };
    rocksdb::EnvOptions unbuffered;
    unbuffered.writable_file_max_buffer_size = 64;
    for (const bool is_finished : {false, true}) {
      disk->Fill(INT64_MAX);
      {
        rocksdb::SstFileWriter writer(unbuffered, options);
        MustBeOk(writer.Open(path));
        for (const std::string& key : keys) MustBeOk(writer.Put(key, "value"));
        create_family(is_finished ? "half-written" : "to be given up");
        if (is_finished) MustBeOk(writer.Finish());
      }
      create_family(is_finished ? "finished" : "given up");
    }
    const uint64_t file_bytes = std::filesystem::file_size(path);
    // From 16 on: two files of the same keys may differ by some bytes, as of the time.
    for (uint64_t missing = 16; missing < file_bytes; missing *= 4) {
      disk->Fill(file_bytes - missing);
      rocksdb::SstFileWriter writer(unbuffered, options);
      MustBeOk(writer.Open(path));
      for (const std::string& key : keys) writer.Put(key, "value").PermitUncheckedError();
      EXPECT_FALSE(writer.Finish().ok()) << missing;
      db.Close();
      std::filesystem::remove_all(db.path());
      db.Open(config);
      expect_unmarked("failed, for want of bytes: " + std::to_string(missing));
    }
  }
}

// Long keys, and a missing range filter, are in the log once for each file, however many partitions
// it has.
TEST(RangeCostsTest, AreLoggedOnceForEachFile) {
  const char* const kLines[] = {"column family default: range filters of long keys take memory",
                                "column family default: no range filter written for a file"};
  const struct {
    size_t key_bytes;
    int keys_per_prefix;
    const char* line;
  } cases[] = {{1000, 1, kLines[0]}, {16, 1, nullptr}, {16, 3, kLines[1]}};
  for (const FilterShape shape : {FilterShape::kFull, FilterShape::kPartitioned}) {
    for (const auto& [key_bytes, keys_per_prefix, expected] : cases) {
      DbConfig config = RangeConfig(shape, {.ranges = true});
      config.table.metadata_block_size = 1 << 14;
      const auto log = std::make_shared<MemoryLogger>();
      config.options.info_log = log;
      TestDb db(config);
      std::mt19937_64 random(7);
      for (size_t file = 1; file <= 2; ++file) {
        for (int i = 0; i < 3000; ++i) {
          std::string key;
          while (key.size() < key_bytes) key += MakeKey(KeyShape::kCounter, random());
          for (int last = 0; last < keys_per_prefix; ++last) {
            key.back() = static_cast<char>(last);  // neighbours differ in the last byte
            MustBeOk(db->Put({}, key, "value"));
          }
        }
        MustBeOk(db->Flush({}));
        for (const std::string line : kLines) {
          EXPECT_EQ(CountOf(log->text(), line),
                    line == std::string(expected == nullptr ? "" : expected) ? file : 0)
              << line << key_bytes;
        }
      }
    }
  }
}

// Ends a process without earlier queries, with 0 if the warning came this often.
void CountWarnings(bool begins_with_bounds, size_t num_expected) {
  TestDb db(RangeConfig(FilterShape::kFull));
  WriteRangeFile(&db, 0, 100);
  const auto seek = [&](const rocksdb::ReadOptions& read, uint64_t seeks) {
    SeekEmptyRanges(&db, read, seeks);
  };
  // The warning comes with the thousandth query of a thread.
  const std::string loud = CatchStderr([&] {
    if (begins_with_bounds) seek(RangeRead(), 10);
    for (const auto& read : {rocksdb::ReadOptions(), RangeRead(), rocksdb::ReadOptions()}) {
      seek(read, 3000);
    }
  });
  std::fprintf(stderr, "%s.", loud.c_str());
  std::exit(CountOf(loud, "no seek has an upper bound") == num_expected ? 0 : 1);
}

// A program in which some seeks have bounds sets them on purpose.
TEST(RangeWarningTest, ComesOnceAndOnlyIfNoSeekHasABound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the child restarts the program
  EXPECT_EXIT(CountWarnings(false, 1), ::testing::ExitedWithCode(0), "iterate_upper_bound");
  EXPECT_EXIT(CountWarnings(true, 0), ::testing::ExitedWithCode(0), "^\\.$");
}

INSTANTIATE_TEST_SUITE_P(Shapes, RangeSavingsTest, kBothShapes, ParamNames());

}  // namespace
}  // namespace blocksieve
