// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/prune_reads.h"

#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/db_ttl.h>

#include <memory>
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
  rocksdb::Status Prune(rocksdb::DB* db, const std::string& condition = "n = 7") {
    return PruneReads(db, nullptr, condition, base_, &pruning_);
  }

  // Matching keys that a pruned iterator shows.
  std::vector<std::string> Keys(rocksdb::DB* db) {
    std::vector<std::string> keys;
    const std::unique_ptr<rocksdb::Iterator> rows(db->NewIterator(pruning_->read_options()));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      ++num_shown_;
      if (pruning_->Matches(rows->value())) keys.push_back(rows->key().ToString());
    }
    EXPECT_TRUE(rows->status().ok()) << rows->status().ToString();
    return keys;
  }

  // Files of 20 rows with two numbers each.
  void FillFiles(TestDb* db) {
    for (uint64_t i = 0; i < 200; ++i) {
      db->Put(Key(i), Value(i / 10));
      if (i % 20 == 19) db->Flush();
    }
  }

  void ExpectRefusal(rocksdb::DB* db, const std::string& text) {
    const rocksdb::Status status = Prune(db);
    EXPECT_NE(status.ToString().find(text), std::string::npos) << status.ToString();
    EXPECT_EQ(pruning_, nullptr);
  }

  rocksdb::ReadOptions base_;
  std::shared_ptr<ReadPruning> pruning_;
  uint64_t num_shown_ = 0;
};

TEST_F(PruneReadsTest, IteratorsReadOnlyFilesThatMayMatch) {
  TestDb db(config_);
  FillFiles(&db);
  MustBeOk(Prune(&db.db()), "prune");
  EXPECT_EQ(Keys(&db.db()).size(), 10u);
  EXPECT_EQ(num_shown_, 20u);
  const ReadPruningCounts counts = pruning_->counts();
  EXPECT_EQ(counts.num_files, 10u);
  EXPECT_EQ(counts.files_pruned, 9u);
  EXPECT_EQ(counts.files_matching, 1u);
  EXPECT_EQ(counts.tables_asked, 10u);
  EXPECT_EQ(counts.tables_left_out, 9u);
  EXPECT_GT(counts.bytes_pruned, counts.num_bytes * 8 / 10);
}

TEST_F(PruneReadsTest, ALaterCallReplacesItsFilterAndKeepsTheProgramsOwn) {
  TestDb db(config_);
  FillFiles(&db);
  int asked = 0;
  const rocksdb_plugin::TableFilter own = [&](const rocksdb::TableProperties&) {
    return ++asked > 0;
  };
  rocksdb_plugin::SetTableFilter(own, &base_);
  MustBeOk(Prune(&db.db(), "n = 7"), "prune");
  const std::shared_ptr<ReadPruning> earlier = pruning_;
  base_ = earlier->read_options();
  MustBeOk(Prune(&db.db(), "n = 12"), "prune again");
  EXPECT_EQ(Keys(&db.db()),
            std::vector<std::string>({Key(120), Key(121), Key(122), Key(123), Key(124), Key(125),
                                      Key(126), Key(127), Key(128), Key(129)}));
  EXPECT_EQ(asked, 10);
}

TEST_F(PruneReadsTest, WhatMayHideSomethingOlderIsRead) {
  TestDb db(config_);
  FillFiles(&db);
  db.Compact();
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(50));
  db.Flush();  // without this file, all old rows would show again
  MustBeOk(Prune(&db.db()), "prune");
  EXPECT_EQ(Keys(&db.db()).size(), 0u);
  EXPECT_EQ(pruning_->counts().files_above_older, 1u);
  EXPECT_GT(pruning_->counts().files_pruned + pruning_->counts().files_matching, 0u);
}

TEST_F(PruneReadsTest, RangeDeletesOfAFileThatIsLeftOutStillAct) {
  TestDb db(config_);
  const rocksdb::Snapshot* const before = db->GetSnapshot();
  db.Put(Key(5), Value(7));
  MustBeOk(db->DeleteRange({}, db->DefaultColumnFamily(), Key(0), Key(10)), "delete range");
  db.Put(Key(6), Value(8));
  db.Flush();
  MustBeOk(Prune(&db.db(), "n = 9"), "prune");
  ASSERT_EQ(pruning_->counts().files_pruned, 1u);
  EXPECT_EQ(Keys(&db.db()).size(), 0u);
  EXPECT_EQ(num_shown_, 0u);
  db->ReleaseSnapshot(before);
}

TEST_F(PruneReadsTest, FilesOfAnSstFileWriterAndOfNoIndexAreRead) {
  TestDb db(config_);
  FillFiles(&db);
  WriteSst(config_.ToOptions(), db.dir() / "ingested", {{Key(500), Value(9)}});
  MustBeOk(db->IngestExternalFile({db.dir() / "ingested"}, {}), "ingest");
  MustBeOk(Prune(&db.db()), "prune");
  EXPECT_EQ(pruning_->counts().files_of_writers, 1u);
  MustBeOk(Prune(&db.db(), "TRUE"), "prune nothing");
  EXPECT_EQ(pruning_->counts().files_pruned, 0u);
  EXPECT_EQ(pruning_->counts().files_without_index, 10u);
  EXPECT_EQ(Keys(&db.db()).size(), 201u);
}

TEST_F(PruneReadsTest, ReadOnlyAndTtlDatabases) {
  {
    TestDb db(config_);
    FillFiles(&db);
    db.Close();
    const auto read_only = OpenReadOnly(config_.ToOptions(), db.path());
    MustBeOk(Prune(read_only.get()), "prune");
    EXPECT_EQ(Keys(read_only.get()).size(), 10u);
    EXPECT_EQ(num_shown_, 20u);
  }
  rocksdb::Options options =
      SkipConfig(ShortGranules(kDefinitions), {.value_suffix_bytes = 4}).ToOptions();
  options.create_if_missing = true;
  const TempDir dir;
  const auto open = [&](const std::string& name) {
    rocksdb::DBWithTTL* opened = nullptr;
    MustBeOk(rocksdb::DBWithTTL::Open(options, dir / name, &opened, 1'000'000), "open");
    Fill(opened);
    return std::unique_ptr<rocksdb::DBWithTTL>(opened);
  };
  const auto ttl = open("ttl");
  MustBeOk(Prune(ttl.get()), "prune");
  EXPECT_EQ(Keys(ttl.get()).size(), 10u);
  MustBeOk(Prune(ttl.get(), "n = 77"), "prune");
  EXPECT_EQ(pruning_->counts().files_pruned, 1u);
  options = config_.ToOptions();  // its index takes the time for a part of the value
  options.create_if_missing = true;
  const auto other = open("other");
  MustBeOk(Prune(other.get(), "n = 77"), "prune");
  EXPECT_EQ(pruning_->counts().files_without_index, 1u);
}

TEST_F(PruneReadsTest, RefusesWhatWouldShowWrongRows) {
  const auto refuse = [&](const auto& change, const std::string& text) {
    DbConfig config = config_;
    change(&config.options);
    TestDb db(config);
    ExpectRefusal(&db.db(), text);
  };
  refuse([](auto* options) { options->allow_ingest_behind = true; }, "allow_ingest_behind");
  refuse([](auto* options) { options->comparator = rocksdb::BytewiseComparatorWithU64Ts(); },
         "timestamps");
  refuse(
      [](auto* options) {
        options->inplace_update_support = true;
        options->allow_concurrent_memtable_write = false;
      },
      "snapshots");
  refuse(
      [](auto* options) {
        DbConfig merging;
        UseMergeOperator(&merging, "put");
        options->merge_operator = merging.options.merge_operator;
      },
      "merge_operator");
  refuse([](auto* options) { options->table_properties_collector_factories.clear(); },
         "number of skip indexes");
  const auto convert = []<class Options>(Options* options) {
    if constexpr (requires { options->min_tombstones_for_range_conversion; }) {
      options->min_tombstones_for_range_conversion = 2;
      return true;
    }
    return false;
  };
  rocksdb::Options converting;
  if (convert(&converting)) refuse(convert, "min_tombstones_for_range_conversion");
  TestDb db(config_);
  FillFiles(&db);
  const auto secondary = OpenSecondary(config_.ToOptions(), db.path(), db.dir() / "second");
  ExpectRefusal(secondary.get(), "secondary");
  base_.tailing = true;
  ExpectRefusal(&db.db(), "tailing");
}

TEST_F(PruneReadsTest, BadArgumentsAreNamed) {
  TestDb db(config_);
  const auto error = [&](const std::string& condition) {
    return Prune(&db.db(), condition).ToString();
  };
  EXPECT_NE(error("x = 1").find("unknown column 'x'"), std::string::npos) << error("x = 1");
  EXPECT_NE(error("n = ").find("position 5"), std::string::npos) << error("n = ");
  EXPECT_NE(error("").find("the condition is empty; allowed"), std::string::npos) << error("");
  EXPECT_NE(error("n = 1 ORDER BY n LIMIT 3").find("ORDER BY"), std::string::npos);
  EXPECT_NE(error("n = 1 LIMIT 3").find("LIMIT"), std::string::npos);
  const auto null = [&](rocksdb::DB* on, std::shared_ptr<ReadPruning>* pruning) {
    return PruneReads(on, nullptr, "n = 1", {}, pruning).ToString();
  };
  EXPECT_NE(null(nullptr, &pruning_).find("db"), std::string::npos);
  EXPECT_NE(null(&db.db(), nullptr).find("pruning"), std::string::npos);
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
      .ForEach([&](const auto&, OlderEntries older) { found.push_back(older); });
  constexpr auto kNone = OlderEntries::kNone;
  constexpr auto kOther = OlderEntries::kInOtherFiles;
  constexpr auto kShared = OlderEntries::kOfSharedKeys;
  // 1 is above 2. 3 and 4 are above each other, as their sequence numbers overlap. 5 is above 8. 11
  // was ingested, so either of 10 and 11 may be the older one.
  EXPECT_EQ(found, std::vector<OlderEntries>({kOther, kNone, kOther, kOther, kOther, kOther, kOther,
                                              kShared, kNone, kNone, kNone}));
}

}  // namespace
}  // namespace blocksieve
