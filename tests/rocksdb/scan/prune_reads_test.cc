// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/prune_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "tests/rocksdb/scan/skip_test_db.h"

namespace ROCKSDB_NAMESPACE {
// In the library since 7.0, in its public headers only later.
extern const Comparator* BytewiseComparatorWithU64Ts();
}  // namespace ROCKSDB_NAMESPACE

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class PruneReadsTest : public SkipFixture {
 protected:
  // Files of 20 rows with two numbers each.
  void FillFiles(TestDb* db) {
    for (uint64_t i = 0; i < 200; ++i) {
      db->Put(Key(i), Value(i / 10));
      if (i % 20 == 19) db->Flush();
    }
  }
};

TEST_F(PruneReadsTest, IteratorsReadOnlyFilesThatMayMatch) {
  TestDb db(config_);
  FillFiles(&db);
  const PrunedRead read(&db.db());
  EXPECT_EQ(read.rows.size(), 10u);
  EXPECT_EQ(read.num_shown, 20u);
  EXPECT_EQ(read.counts().num_files, 10u);
  EXPECT_EQ(read.counts().files_pruned, 9u);
  EXPECT_EQ(read.counts().files_matching, 1u);
  EXPECT_EQ(read.counts().tables_asked, 10u);
  EXPECT_EQ(read.counts().tables_left_out, 9u);
  EXPECT_GT(read.counts().bytes_pruned, read.counts().num_bytes * 8 / 10);
  const auto opened = OpenReadOnly(config_.ToOptions(), db.path());
  const PrunedRead read_only(opened.get());
  EXPECT_EQ(read_only.rows.size(), 10u);
  EXPECT_EQ(read_only.num_shown, 20u);
}

TEST_F(PruneReadsTest, ALaterCallReplacesItsFilterAndKeepsTheProgramsOwn) {
  TestDb db(config_);
  FillFiles(&db);
  int asked = 0;
  const rocksdb_plugin::TableFilter own = [&](const rocksdb::TableProperties&) {
    return ++asked > 0;
  };
  rocksdb::ReadOptions base;
  rocksdb_plugin::SetTableFilter(own, &base);
  std::shared_ptr<ReadPruning> earlier;
  MustBeOk(PruneReads(&db.db(), nullptr, "n = 7", base, &earlier));
  const PrunedRead read(&db.db(), "n = 12", earlier->read_options());
  EXPECT_EQ(read.rows.size(), 10u);
  EXPECT_EQ(read.rows.begin()->first, Key(120));
  EXPECT_EQ(read.rows.rbegin()->first, Key(129));
  EXPECT_EQ(asked, 10);
}

TEST_F(PruneReadsTest, WhatMayHideSomethingOlderIsRead) {
  TestDb db(config_);
  FillFiles(&db);
  db.Compact();
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(50));
  db.Flush();  // without this file, all old rows would show again
  const PrunedRead read(&db.db());
  EXPECT_EQ(read.rows.size(), 0u);
  EXPECT_EQ(read.counts().files_above_older, 1u);
  EXPECT_GT(read.counts().files_pruned + read.counts().files_matching, 0u);
}

TEST_F(PruneReadsTest, RangeDeletesOfAFileThatIsLeftOutStillAct) {
  TestDb db(config_);
  const rocksdb::Snapshot* const before = db->GetSnapshot();
  db.Put(Key(5), Value(7));
  MustBeOk(db->DeleteRange({}, db->DefaultColumnFamily(), Key(0), Key(10)));
  db.Put(Key(6), Value(8));
  db.Flush();
  const PrunedRead read(&db.db(), "n = 9");
  ASSERT_EQ(read.counts().files_pruned, 1u);
  EXPECT_EQ(read.num_shown, 0u);
  db->ReleaseSnapshot(before);
}

TEST_F(PruneReadsTest, FilesOfAnSstFileWriterAndOfNoIndexAreRead) {
  TestDb db(config_);
  FillFiles(&db);
  WriteSst(config_.ToOptions(), db.dir() / "ingested", {{Key(500), Value(9)}});
  MustBeOk(db->IngestExternalFile({db.dir() / "ingested"}, {}));
  EXPECT_EQ(PrunedRead(&db.db()).counts().files_of_writers, 1u);
  const PrunedRead all(&db.db(), "TRUE");
  EXPECT_EQ(all.counts().files_pruned, 0u);
  EXPECT_EQ(all.counts().files_without_index, 10u);
  EXPECT_EQ(all.rows.size(), 201u);
}

// Where pruned reads would show wrong rows, and where scans would.
TEST_F(PruneReadsTest, UnsupportedDatabasesAreRefused) {
  // An empty text: not refused.
  const auto refuse = [&](rocksdb::DB* db, const std::string& pruning_text,
                          const std::string& scan_text, const rocksdb::ReadOptions& base = {}) {
    std::shared_ptr<ReadPruning> pruning;
    std::unique_ptr<SkipScan> scan;
    const std::string pruned = PruneReads(db, nullptr, "n = 7", base, &pruning).ToString();
    EXPECT_THAT(pruned, ::testing::HasSubstr(pruning_text));
    EXPECT_EQ(pruning, nullptr);
    const rocksdb::Status scanned = SkipScan::Create(db, nullptr, Is("n = 7"), {}, &scan);
    EXPECT_EQ(scanned.IsNotSupported(), !scan_text.empty()) << pruning_text;
    EXPECT_THAT(scanned.ToString(), ::testing::HasSubstr(scan_text));
    EXPECT_EQ(scan == nullptr, !scanned.ok());
  };
  const auto refuse_options = [&](const std::string& pruning_text, const std::string& scan_text,
                                  const auto& change) {
    DbConfig config = config_;
    change(&config);
    TestDb db(config);
    refuse(&db.db(), pruning_text, scan_text);
  };
  refuse_options("allow_ingest_behind", "",
                 [](DbConfig* config) { config->options.allow_ingest_behind = true; });
  refuse_options("timestamps", "timestamps", [](DbConfig* config) {
    config->options.comparator = rocksdb::BytewiseComparatorWithU64Ts();
  });
  refuse_options("snapshots", "inplace_update_support", [](DbConfig* config) {
    config->options.inplace_update_support = true;
    config->options.allow_concurrent_memtable_write = false;
  });
  refuse_options("number of skip indexes", "", [](DbConfig* config) {
    config->options.table_properties_collector_factories.clear();
  });
  const auto convert = []<class Options>(Options* options) {
    if constexpr (requires { options->min_tombstones_for_range_conversion; }) {
      options->min_tombstones_for_range_conversion = 2;
      return true;
    }
    return false;
  };
  if (rocksdb::Options converting; convert(&converting)) {
    refuse_options("min_tombstones_for_range_conversion", "",
                   [&](DbConfig* config) { convert(&config->options); });
  }
  DbConfig unordered = config_;
  unordered.options.unordered_write = true;
  std::unique_ptr<SkipScan> scan;
  const rocksdb::Status status =
      SkipScan::Create(&TestDb(unordered).db(), nullptr, Is("n = 7"), {}, &scan);
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("unordered_write"));
  TestDb db(config_);
  FillFiles(&db);
  const auto secondary = OpenSecondary(config_.ToOptions(), db.path(), db.dir() / "second");
  refuse(secondary.get(), "secondary", "secondary");
  rocksdb::ReadOptions tailing;
  tailing.tailing = true;
  refuse(&db.db(), "tailing", "", tailing);
}

TEST_F(PruneReadsTest, BadArgumentsAreNamed) {
  TestDb db(config_);
  std::shared_ptr<ReadPruning> pruning;
  const auto expect = [&](const std::string& text, rocksdb::DB* on, const std::string& condition,
                          std::shared_ptr<ReadPruning>* result) {
    EXPECT_THAT(PruneReads(on, nullptr, condition, {}, result).ToString(),
                ::testing::HasSubstr(text));
  };
  expect("unknown column 'x'", &db.db(), "x = 1", &pruning);
  expect("the condition is empty; allowed", &db.db(), "", &pruning);
  expect("ORDER BY", &db.db(), "n = 1 ORDER BY n LIMIT 3", &pruning);
  expect("db", nullptr, "n = 1", &pruning);
  expect("pruning", &db.db(), "n = 1", nullptr);
}

rocksdb::SstFileMetaData FileOf(uint64_t number, const std::string& first, const std::string& last,
                                rocksdb::SequenceNumber smallest, rocksdb::SequenceNumber largest) {
  rocksdb::SstFileMetaData file;
  file.name = "/" + std::to_string(number) + ".sst";
  file.smallestkey = first;
  file.largestkey = last;
  file.smallest_seqno = smallest;
  file.largest_seqno = largest;
  return file;
}

TEST(FileMapTest, FindsWhereOlderEntriesMayBe) {
  rocksdb::ColumnFamilyMetaData metadata;
  const auto add = [&](int level, const std::vector<rocksdb::SstFileMetaData>& files) {
    metadata.levels.emplace_back(level, 0, std::vector(files));
  };
  add(0, {FileOf(1, "a", "c", 90, 99), FileOf(2, "b", "d", 80, 89), FileOf(3, "x", "z", 7, 9),
          FileOf(4, "y", "y", 3, 9), FileOf(10, "r", "t", 50, 60), FileOf(11, "s", "s", 70, 70)});
  add(1, {FileOf(5, "e", "g", 1, 9), FileOf(6, "g", "h", 1, 9), FileOf(7, "k", "m", 1, 9)});
  add(3, {FileOf(8, "f", "f", 0, 0), FileOf(9, "n", "p", 0, 0)});
  using rocksdb_plugin::OlderEntries;
  std::vector<OlderEntries> found;
  rocksdb_plugin::FileMap(rocksdb::BytewiseComparator(), metadata)
      .ForEach([&](const auto&, uint64_t, OlderEntries older) { found.push_back(older); });
  constexpr auto kNone = OlderEntries::kNone;
  constexpr auto kOther = OlderEntries::kInOtherFiles;
  constexpr auto kShared = OlderEntries::kOfSharedKeys;
  // 1 is above 2. 3 and 4 are above each other, as their sequence numbers overlap. 5 is above 8. 11
  // was ingested, so either of 10 and 11 may be the older one.
  EXPECT_EQ(found, std::vector<OlderEntries>({kOther, kNone, kOther, kOther, kOther, kOther, kOther,
                                              kShared, kNone, kNone, kNone}));
}

// The same for level 0 as comparing all pairs.
TEST(FileMapTest, JudgesLevel0AsAllPairsDo) {
  std::mt19937_64 random(5);
  size_t num_above = 0;
  size_t num_files = 0;
  for (int round = 0; round < 3'000; ++round) {
    const uint64_t num_keys = 2 + random() % 40;
    const uint64_t num_sequences = 1 + random() % 30;
    std::vector<rocksdb::SstFileMetaData> files;
    for (uint64_t i = random() % 12; i > 0; --i) {
      const auto first = static_cast<char>('A' + random() % num_keys);
      const auto last = static_cast<char>(first + static_cast<char>(random() % 4));
      const uint64_t smallest = random() % num_sequences;
      files.push_back(FileOf(i, std::string(1, first), std::string(1, last), smallest,
                             smallest + random() % 4));
    }
    rocksdb::ColumnFamilyMetaData metadata;
    metadata.levels.emplace_back(0, 0, std::vector(files));
    rocksdb_plugin::FileMap(rocksdb::BytewiseComparator(), metadata)
        .ForEach([&](const auto& file, uint64_t number, rocksdb_plugin::OlderEntries found) {
          bool is_above = false;
          for (const rocksdb::SstFileMetaData& other : files) {
            const bool is_newer = other.smallest_seqno > file.largest_seqno &&
                                  other.smallest_seqno != other.largest_seqno;
            is_above |= other.name != file.name && !is_newer &&
                        other.smallestkey <= file.largestkey &&
                        file.smallestkey <= other.largestkey;
          }
          EXPECT_EQ(found == rocksdb_plugin::OlderEntries::kInOtherFiles, is_above);
          EXPECT_EQ("/" + std::to_string(number) + ".sst", file.name);
          num_above += is_above;
          ++num_files;
        });
  }
  EXPECT_GT(num_above, num_files / 4);
  EXPECT_LT(num_above, num_files * 3 / 4);
}

}  // namespace
}  // namespace blocksieve
