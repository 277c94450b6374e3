// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/scan/skip_test_db.h"

#if BLOCKSIEVE_HAS_USER_INDEX

#include <gmock/gmock.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/multi_scan.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "integration/rocksdb/block_index/factory.h"
#include "tests/rocksdb/ranges/range_db.h"

// Block indexes in databases; RandomDatabaseTest checks all kinds of reads.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kIndexedFiles = 4;

DbConfig IndexedConfig(bool is_primary) {
  DbConfig config = MakeConfig(FilterShape::kFull, NewPolicy({}));
  config.table.block_size = 1024;
  UseBlockIndex({.ranges = true}, is_primary, &config);
  return config;
}

/// Reads by the block index, for ranges alone.
struct IndexedRead {
  explicit IndexedRead(TestDb* db) { MustBeOk(PruneReads(&db->db(), nullptr, "", {}, &pruning)); }
  const rocksdb::ReadOptions& options() const { return pruning->read_options(); }

  std::shared_ptr<ReadPruning> pruning;
};

void WriteFiles(TestDb* db) {
  for (uint64_t file = 0; file < kIndexedFiles; ++file) WriteRangeFile(db, file);
}

class BlockIndexReadsTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, BlockIndexReadsTest, ::testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "Primary" : "Secondary");
});

TEST_P(BlockIndexReadsTest, EmptyRangesReadNoBlock) {
  TestDb db(IndexedConfig(GetParam()));
  WriteFiles(&db);
  const IndexedRead read(&db);
  const EmptySeeks seeks =
      SeekEmptyRanges(&db, GetParam() ? rocksdb::ReadOptions() : read.options());
  EXPECT_EQ(seeks.found, 0u);
  EXPECT_LT(seeks.blocks * 20, seeks.seeks * kIndexedFiles);
  EXPECT_GT(seeks.counts.no * 20, seeks.seeks * kIndexedFiles * 19);
  // The same backward.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string begin = RangeKey(2 * i + 1);
    const std::string end = begin + '\0';
    const rocksdb::Slice bounds[] = {begin, end};
    rocksdb::ReadOptions bounded = read.options();
    bounded.iterate_lower_bound = &bounds[0];
    bounded.iterate_upper_bound = &bounds[1];
    const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(bounded));
    iterator->SeekToLast();
    EXPECT_FALSE(iterator->Valid());
  }
  EXPECT_LT(DataBlocksRead(*rocksdb::get_perf_context()) * 20, 1000 * kIndexedFiles);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

struct ScanCounts {
  uint64_t found = 0;
  uint64_t fetched = 0;
  uint64_t wasted = 0;  // counts blocks in which a range ends, too
};

ScanCounts ScanAll(TestDb* db, const rocksdb::ReadOptions& read,
                   const std::vector<std::string>& begins, bool is_async) {
  db->ResetUse();
  rocksdb::MultiScanArgs ranges(rocksdb::BytewiseComparator());
  std::vector<std::string> ends;
  for (const std::string& begin : begins) ends.push_back(begin + '\0');
  for (size_t i = 0; i < begins.size(); ++i) ranges.insert(begins[i], ends[i]);
  ranges.use_async_io = is_async;
  ScanCounts counts;
  {
    const auto scans = (*db)->NewMultiScan(read, (*db)->DefaultColumnFamily(), ranges);
    for (auto scan : *scans) {
      for ([[maybe_unused]] auto row : scan) ++counts.found;
    }
  }
  const auto count = [&](rocksdb::Tickers ticker) {
    return (*db)->GetDBOptions().statistics->getTickerCount(ticker);
  };
  counts.fetched =
      count(rocksdb::MULTISCAN_BLOCKS_PREFETCHED) + count(rocksdb::MULTISCAN_BLOCKS_FROM_CACHE);
  counts.wasted = count(rocksdb::MULTISCAN_PREFETCH_BLOCKS_WASTED);
  return counts;
}

TEST(BlockIndexMultiScanTest, PrefetchesNoEmptyRange) {
  DbConfig config = IndexedConfig(false);
  config.options.target_file_size_base = 64 << 10;
  TestDb db(config);
  WriteFiles(&db);
  db.Compact();
  WriteFiles(&db);
  const IndexedRead read(&db);
  std::vector<std::string> begins;
  for (uint64_t i = 0; i < 1000; ++i) begins.push_back(RangeKey(i % 10 == 0 ? 32 * i : 2 * i + 1));
  std::ranges::sort(begins);
  for (const bool is_async : {false, true}) {
    const ScanCounts stock = ScanAll(&db, {}, begins, is_async);
    const ScanCounts ours = ScanAll(&db, read.options(), begins, is_async);
    EXPECT_EQ(stock.found, 100u);
    EXPECT_EQ(ours.found, 100u);
    EXPECT_LE(ours.fetched * 5, stock.fetched);  // not counted before 11.3
    EXPECT_LT(ours.wasted * 5, stock.wasted);
  }
}

TEST(BlockIndexModesTest, TheIndexOfAllFilesCanBecomePrimary) {
  TestDb db(MakeConfig(FilterShape::kFull, NewPolicy({})));
  WriteRangeFile(&db, 0);
  db.Reopen(IndexedConfig(false));
  rocksdb::ColumnFamilyOptions primary(IndexedConfig(false).ToOptions());
  const auto make_primary = [&] { return MakeIndexPrimary(&db.db(), nullptr, &primary); };
  const rocksdb::Status refused = make_primary();
  EXPECT_TRUE(refused.IsIncomplete()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr(".sst"));
  MustBeOk(RewriteFilters(&db.db(), {}));
  MustBeOk(make_primary());
  EXPECT_TRUE(primary.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
                  ->use_udi_as_primary_index);
}

TEST(BlockIndexModesTest, ChecksCountFilesWithoutTheIndexOfTheOptions) {
  const TempDir dir;
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::Options options;
  options.create_if_missing = true;
  const auto problems_under = [&](const EnableOptions& features, bool has_extractor) {
    MustBeOk(Enable(&options, features));
    if (!has_extractor) options.prefix_extractor = nullptr;
    db.reset();
    db = OpenDb(options, dir / "db");
    return ProblemsOf(db.get());
  };
  const EnableOptions by_filter = {
      .target_fpr = 0.01, .ranges = true, .carrier = Carrier::kFilterAndSidecar};
  EnableOptions by_block = by_filter;
  by_block.carrier = Carrier::kBlockIndex;
  EXPECT_THAT(problems_under(by_filter, true), IsEmpty());
  for (int i = 0; i < 1000; ++i) MustBeOk(db->Put({}, RangeKey(16 * i), "value"));
  MustBeOk(db->Flush({}));
  const std::string count =
      "1 of 1 files have no block index, or one of other options; RewriteFilters gives them the "
      "index";
  EXPECT_THAT(problems_under(by_block, true),
              ElementsAre(count + "; 1 of them have range filters: keep "
                                  "prefix_extractor=blocksieve.range until then"));
  EXPECT_THAT(problems_under(by_block, false),
              ElementsAre(count + "; 1 of them have range filters, which no seek asks: set "
                                  "prefix_extractor=blocksieve.range, or call RewriteFilters"));
  MustBeOk(RewriteFilters(db.get(), {}));
  EXPECT_THAT(problems_under(by_block, false), IsEmpty());
  by_block.columns = Columns({"n=int:field:1"});
  by_block.value_suffix_bytes = 4;
  EXPECT_THAT(problems_under(by_block, true),
              ElementsAre(HasSubstr("value_suffix_bytes is 4 in the block index, but the database "
                                    "hides 0 bytes"),
                          count));
}

DbConfig ColumnsConfig(const DbConfig& stock) {
  DbConfig config = stock;
  UseBlockIndex({.columns = Columns({"n=int:field:1"})}, /*is_primary=*/false, &config);
  return config;
}

// Neither aligned blocks nor dictionaries, whose sizes tell nothing, keep blocks from being left
// out.
TEST(BlockIndexPruningTest, LeavesOutBlocksOfAllKindsOfTables) {
  for (const bool is_aligned : {true, false}) {
    DbConfig stock = MakeConfig(FilterShape::kFull, nullptr);
    stock.table.block_size = 512;
    stock.table.block_align = is_aligned;
    if (!is_aligned) {
      stock.options.compression = rocksdb::kZSTD;
      stock.options.compression_opts.max_dict_bytes = 4 << 10;
      stock.options.compression_opts.zstd_max_train_bytes = 64 << 10;
    }
    TestDb db(ColumnsConfig(stock));
    for (uint64_t i = 0; i < 500; ++i)
      db.Put(Key(i), std::to_string(i / 5) + "\t" + std::string(40, 'x'));
    db.Flush();
    const PrunedRead read(&db.db(), "n = 20");
    EXPECT_EQ(read.rows.size(), 5u);
    EXPECT_GT(read.counts().blocks_left_out * 2, read.counts().num_blocks);
  }
}

/// The largest read of a file.
class LargestRead final : public rocksdb::FileSystemWrapper {
 public:
  using rocksdb::FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "LargestRead"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    struct File final : rocksdb::FSRandomAccessFileOwnerWrapper {
      File(std::unique_ptr<rocksdb::FSRandomAccessFile>&& target, std::atomic<uint64_t>* largest)
          : FSRandomAccessFileOwnerWrapper(std::move(target)), largest_(*largest) {}
      rocksdb::IOStatus Read(uint64_t offset, size_t n, const rocksdb::IOOptions& io,
                             rocksdb::Slice* result, char* scratch,
                             rocksdb::IODebugContext* context) const override {
        if (n > largest_) largest_ = n;
        return FSRandomAccessFileOwnerWrapper::Read(offset, n, io, result, scratch, context);
      }
      std::atomic<uint64_t>& largest_;
    };
    rocksdb::IOStatus status = FileSystemWrapper::NewRandomAccessFile(name, options, file, debug);
    if (status.ok()) *file = std::make_unique<File>(std::move(*file), &largest);
    return status;
  }

  std::atomic<uint64_t> largest = 0;
};

TEST(BlockIndexPruningTest, ReadaheadReadsNoBlocksBetween) {
  const auto files = std::make_shared<LargestRead>(rocksdb::FileSystem::Default());
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  DbConfig stock = MakeConfig(FilterShape::kFull, nullptr);
  stock.options.env = env.get();
  stock.options.write_buffer_size = 64 << 20;
  TestDb db(ColumnsConfig(stock));
  for (uint64_t i = 0; i < 8000; ++i) {
    db.Put(Key(i), std::to_string(i % 400 == 0 ? 7 : 1) + "\t" + std::string(1000, 'v'));
  }
  db.Flush();
  rocksdb::ReadOptions base;
  const rocksdb::Slice end("l");
  base.iterate_upper_bound = &end;
  base.fill_cache = false;
  base.readahead_size = 64 << 10;
  files->largest = 0;
  const PrunedRead read(&db.db(), "n = 7", base);
  EXPECT_EQ(read.rows.size(), 20u);
  constexpr uint64_t kPages = 16 << 10;  // a block and alignment
  EXPECT_LE(files->largest, base.readahead_size + kPages);
}

TEST(BlockIndexModesTest, RefusesWhatItCannotServe) {
  using Change =
      std::function<void(rocksdb::ColumnFamilyOptions*, rocksdb::BlockBasedTableOptions*)>;
  const EnableOptions ranges{.ranges = true};
  const struct {
    EnableOptions index;
    std::string said;
    Change change = {};
  } cases[] = {
      {{.ranges = true, .range_fpr = 0.9}, "range_fpr is 0.9"},
      {{.prefixes = "delimiter:/", .range_fpr = 0.4}, "range_fpr is 0.4"},
      {{.prefixes = "x:y"}, "x:y"},
      {{.ranges = true, .value_fpr = 2}, "value_fpr is 2"},
      {{.columns = {"n=imt:1"}}, "n=imt:1"},
      {ranges, "comparator",
       [](auto* cf, auto*) { cf->comparator = rocksdb::ReverseBytewiseComparator(); }},
      {ranges, "option compression_opts.parallel_threads is 4",
       [](auto* cf, auto*) { cf->compression_opts.parallel_threads = 4; }},
      {ranges, "option bottommost_compression_opts.parallel_threads is 4",
       [](auto* cf, auto*) { cf->bottommost_compression_opts.parallel_threads = 4; }},
  };
  for (const auto& [index, said, change] : cases) {
    rocksdb::ColumnFamilyOptions family;
    rocksdb::BlockBasedTableOptions table;
    if (change) change(&family, &table);
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    EnableOptions features = index;
    features.carrier = Carrier::kBlockIndex;
    EXPECT_THAT(Enable(&family, features).ToString(),
                AllOf(HasSubstr(said), AnyOf(HasSubstr("allowed"), HasSubstr("expected"))));
    EXPECT_EQ(family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()
                  ->user_defined_index_factory,
              nullptr);
  }
  const std::string text = "{id=blocksieve.block_index;ranges=true;range_fpr=";
  EXPECT_TRUE(rocksdb_plugin::CheckBlockIndexText(text + "0.3}").ok());
  EXPECT_FALSE(rocksdb_plugin::CheckBlockIndexText(text + "0.4}").ok());
  // Another comparator is no obstacle for values.
  rocksdb::ColumnFamilyOptions options;
  options.comparator = rocksdb::ReverseBytewiseComparator();
  MustBeOk(Enable(&options, {.columns = {"n=int:field:1"}, .carrier = Carrier::kBlockIndex}));
}

}  // namespace
}  // namespace blocksieve

#endif
