// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/prune_reads.h"

#include <gmock/gmock.h>
#include <rocksdb/utilities/stackable_db.h>

#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <utility>

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
  const rocksdb::Slice time("12345678");
  rocksdb::ReadOptions tailing;
  tailing.tailing = true;
  rocksdb::ReadOptions with_time;
  with_time.iter_start_ts = &time;
  const struct {
    std::string condition;
    std::string said;
    rocksdb::DB* db;
    rocksdb::ReadOptions options = {};
    bool of_iterators = true;
    bool of_pruning = true;
  } cases[] = {
      {"x = 1", "unknown column 'x'", &db.db()},
      {"n = 1 ORDER BY n LIMIT 3", "ORDER BY", &db.db()},
      {"n = 7 LIMIT 3", "LIMIT", &db.db()},
      {"n = 1", "db", nullptr},
      {"", "the condition is empty; allowed", &db.db(), {}, false},
      {"", "tailing", &db.db(), tailing, true, false},
      {"n = 7", "iter_start_ts", &db.db(), with_time, true, false},
  };
  for (const auto& [condition, said, on, options, of_iterators, of_pruning] : cases) {
    std::unique_ptr<rocksdb::Iterator> rows(rocksdb::NewEmptyIterator());
    std::shared_ptr<ReadPruning> pruning;
    if (of_iterators) {
      EXPECT_THAT(
          NewIterator(on, nullptr, condition, options, &rows).ToString(),
          ::testing::AllOf(::testing::StartsWith("Invalid argument"), ::testing::HasSubstr(said)));
      EXPECT_TRUE(rows == nullptr || on == nullptr) << condition;
    }
    if (!of_pruning) continue;
    EXPECT_THAT(PruneReads(on, nullptr, condition, options, &pruning).ToString(),
                ::testing::HasSubstr(said));
  }
  EXPECT_THAT(PruneReads(&db.db(), nullptr, "n = 1", {}, nullptr).ToString(),
              ::testing::HasSubstr("pruning"));
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

// Iterators over the rows that match a condition. RandomDatabaseTest compares their moves.

class NewIteratorTest : public SkipFixture {
 protected:
  std::unique_ptr<rocksdb::Iterator> Open(rocksdb::DB* db, const std::string& condition = "n = 7",
                                          const rocksdb::ReadOptions& options = {}) {
    std::unique_ptr<rocksdb::Iterator> rows;
    MustBeOk(NewIterator(db, nullptr, condition, options, &rows), condition);
    return rows;
  }

  static size_t CountRows(rocksdb::Iterator* rows) {
    size_t count = 0;
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) ++count;
    MustBeOk(rows->status());
    return count;
  }

  static std::string Property(rocksdb::Iterator* rows) {
    std::string text;
    EXPECT_TRUE(rows->GetProperty("blocksieve.pruning", &text).ok());
    return text;
  }
};

TEST_F(NewIteratorTest, RefreshDecidesAnew) {
  TestDb db(config_);
  Fill(&db.db());
  db->CompactRange({}, nullptr, nullptr);
  const auto rows = Open(&db.db());
  EXPECT_EQ(CountRows(rows.get()), 10U);
  // Files that were left out change.
  for (uint64_t i = 0; i < 200; ++i) db.Put(Key(i), Value(i < 30 ? 7 : 8));
  db.Compact();
  EXPECT_EQ(CountRows(rows.get()), 10U);
  ASSERT_TRUE(rows->Refresh().ok());
  EXPECT_EQ(CountRows(rows.get()), 30U);
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
  EXPECT_EQ(CountRows(rows.get()), 50U);  // of the moment when it was made
  ASSERT_TRUE(rows->Refresh().ok());
  EXPECT_EQ(CountRows(rows.get()), 49U);
  // Values need what other files have, wherever they lie.
  const auto either = Open(&db.db(), "v = 'base+' OR k = 'b'");
  EXPECT_EQ(CountRows(either.get()), 67U);
  EXPECT_EQ(Property(either.get()).find("pruned"), std::string::npos) << Property(either.get());
  const auto all = Open(&db.db(), "v = 'base+'");
  EXPECT_EQ(CountRows(all.get()), 17U);
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
