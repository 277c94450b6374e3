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
#include "integration/rocksdb/index/prune_rule.h"
#include "tests/rocksdb/compat/interfering_db.h"
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

// Not even that a file has no index.
TEST_F(PruneReadsTest, NothingIsKeptForWhichTheCacheHasNoRoom) {
  DbConfig without = config_;
  without.options.table_properties_collector_factories.clear();
  TestDb db(without);
  FillFiles(&db);
  db.Reopen(config_);
  ConfigureSkipIndexCache({.capacity_bytes = 0});
  EXPECT_EQ(PrunedRead(&db.db()).counts().files_without_index, 10u);
  MustBeOk(RebuildSkipIndexes(&db.db(), {}));
  EXPECT_EQ(PrunedRead(&db.db()).counts().files_pruned, 9u);
  ConfigureSkipIndexCache({});
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

// Each call that RocksDB answers by all files counts twice, as does the iterator of each
// PruneReads.
TEST_F(PruneReadsTest, FilesAreListedAgainOnlyIfTheyChanged) {
  TestDb db(config_);
  FillFiles(&db);
  int num_calls = 0;
  InterferingDb counting(&db.db(), [&] { ++num_calls; });
  ReadPruningCounts counts;
  const auto count_calls = [&](const std::string& condition) {
    num_calls = 0;
    std::shared_ptr<ReadPruning> pruning;
    MustBeOk(PruneReads(&counting, nullptr, condition, {}, &pruning));
    counts = pruning->counts();
    return num_calls - 2;
  };
  EXPECT_EQ(count_calls("n = 7"), 4);
  for (const char* condition : {"n = 7", "n = 12"}) {
    EXPECT_EQ(count_calls(condition), 0);
    EXPECT_EQ(counts.num_files, 10u);
    EXPECT_EQ(counts.files_pruned, 9u);
  }
  // Of new files, the properties alone are read.
  for (const uint64_t row : {5, 6}) db.Put(Key(row), Value(50));
  db.Flush();
  EXPECT_EQ(count_calls("n = 7"), 2);
  EXPECT_EQ(counts.files_above_older, 1u);
  EXPECT_EQ(count_calls("n = 7"), 0);
  WriteSst(config_.ToOptions(), db.dir() / "ingested", {{Key(500), Value(9)}});
  for (const uint64_t num_copies : {1, 2}) {
    MustBeOk(db->IngestExternalFile({db.dir() / "ingested"}, {}));
    EXPECT_EQ(count_calls("n = 7"), 2);
    EXPECT_EQ(counts.files_of_writers, num_copies == 1 ? 1u : 0u);
    EXPECT_EQ(counts.files_not_unique, num_copies == 1 ? 0u : 2u);
  }
  db.Compact();
  count_calls("n = 7");
  EXPECT_EQ(counts.files_above_older, 0u);
  const PrunedRead read(&counting);
  EXPECT_EQ(read.rows.size(), 10u);
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

// The same for level 0 as comparing all pairs.
TEST(PruneRuleTest, JudgesLevel0AsAllPairsDo) {
  std::mt19937_64 random(5);
  size_t num_above = 0;
  size_t num_files = 0;
  std::string keys;
  for (char key = 'A'; key < 'z'; ++key) keys += key;
  for (int round = 0; round < 3'000; ++round) {
    const uint64_t num_keys = 2 + random() % 40;
    const uint64_t num_sequences = 1 + random() % 30;
    std::vector<rocksdb_plugin::PlacedFile> files;
    for (uint64_t i = random() % 12; i > 0; --i) {
      const uint64_t first = random() % num_keys;
      const uint64_t smallest = random() % num_sequences;
      files.push_back({.first_key = {&keys[first], 1},
                       .last_key = {&keys[first + random() % 4], 1},
                       .smallest_sequence = smallest,
                       .largest_sequence = smallest + random() % 4});
    }
    const auto found = rocksdb_plugin::FindOlderEntries(*rocksdb::BytewiseComparator(), files);
    for (size_t i = 0; i < files.size(); ++i) {
      bool is_above = false;
      for (size_t j = 0; j < files.size(); ++j) {
        const bool is_newer = files[j].smallest_sequence > files[i].largest_sequence &&
                              files[j].smallest_sequence != files[j].largest_sequence;
        is_above |= j != i && !is_newer && files[j].first_key.compare(files[i].last_key) <= 0 &&
                    files[i].first_key.compare(files[j].last_key) <= 0;
      }
      EXPECT_EQ(found[i] == rocksdb_plugin::OlderEntries::kInOtherFiles, is_above);
      num_above += is_above;
      ++num_files;
    }
  }
  EXPECT_GT(num_above, num_files / 4);
  EXPECT_LT(num_above, num_files * 3 / 4);
}

}  // namespace
}  // namespace blocksieve
