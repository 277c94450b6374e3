// SPDX-License-Identifier: Apache-2.0
#include "bench/skip/scan_database.h"

#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>

#include "bench/support/measure.h"
#include "blocksieve/rocksdb.h"

namespace blocksieve::bench::skip {
namespace {

constexpr int kBottomLevel = 2;
constexpr size_t kLevel0Files = 4;
constexpr int kNumLevels = 9;  // one for each of eight runs, and level 0

// Oldest first: later rows replace earlier ones.
std::vector<std::string> FilesByAge(rocksdb::DB& db) {
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(&meta);
  std::vector<std::string> paths;
  for (auto level = meta.levels.rbegin(); level != meta.levels.rend(); ++level) {
    std::vector<rocksdb::SstFileMetaData> files = level->files;
    std::sort(files.begin(), files.end(),
              [](const auto& a, const auto& b) { return a.largest_seqno < b.largest_seqno; });
    for (const auto& file : files) paths.push_back(file.db_path + file.name);
  }
  return paths;
}

// Without cache and readahead, so that every block is read, and counted, when it is needed.
rocksdb::Options CountingOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.no_block_cache = true;
  table.max_auto_readahead_size = 0;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// `by_block`: the skip index as a block index.
void SetUp(const std::optional<SkipIndexOptions>& index, bool by_block, rocksdb::Options& options) {
  options.num_levels = kNumLevels;
  // Re-checks are lookups.
  CheckOk(NewFilterPolicy({}, &TableOptions(options).filter_policy), "filter policy");
  if (!index) return;
  CheckOk(Enable(&options, {.target_fpr = 0.01,
                            .columns = index->columns,
                            .carrier = by_block ? Carrier::kBlockIndex : Carrier::kFilterAndSidecar,
                            .value_fpr = index->target_fpr,
                            .max_index_bytes = index->max_index_bytes}),
          "index");
}

}  // namespace

size_t RowBlocks::Count(std::span<const uint32_t> rows) const {
  std::set<uint64_t> blocks;
  for (const uint32_t row : rows) blocks.insert(block_of_row[row]);
  return blocks.size();
}

uint64_t ForEachEntry(rocksdb::DB& db, const Rows& rows,
                      const std::function<void(size_t row, uint64_t block)>& visit) {
  uint64_t num_blocks = 0;
  for (const std::string& path : FilesByAge(db)) {
    CheckInterrupt();
    rocksdb::SstFileReader reader(CountingOptions());
    CheckOk(reader.Open(path), path);
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    uint64_t& blocks_read = rocksdb::get_perf_context()->block_read_count;
    const std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(rocksdb::ReadOptions()));
    blocks_read = 0;
    size_t row = 0;
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++row) {
      const std::string_view key = iterator->key().ToStringView();
      while (row < rows.size() && rows.key(row) < key) ++row;
      if (row == rows.size() || rows.key(row) != key) Fail("{} has a key that is no row's", path);
      visit(row, num_blocks + blocks_read);
    }
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    const uint64_t written = reader.GetTableProperties()->num_data_blocks;
    if (!iterator->status().ok() || blocks_read != written) {
      Fail("{}: {}; {} data blocks read of {}", path, iterator->status().ToString(), blocks_read,
           written);
    }
    num_blocks += blocks_read;
  }
  return num_blocks;
}

RowBlocks BlocksOf(rocksdb::DB& db, const Rows& rows) {
  RowBlocks blocks{std::vector<uint64_t>(rows.size())};
  blocks.num_blocks =
      ForEachEntry(db, rows, [&](size_t row, uint64_t block) { blocks.block_of_row[row] = block; });
  return blocks;
}

ScanDatabase::ScanDatabase(const Dataset& dataset, std::filesystem::path path,
                           const std::optional<SkipIndexOptions>& index, bool by_block,
                           std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> collector)
    : Database({by_block ? "block index"
                : index  ? "skip index"
                         : "no index",
                [=](rocksdb::Options& options) {
                  SetUp(index, by_block, options);
                  if (collector) options.table_properties_collector_factories.push_back(collector);
                }},
               dataset.rows.num_bytes() / 4, std::move(path)),  // more files than other jobs
      dataset_(dataset) {
  Open(Reads::kColdOnce);
}

void ScanDatabase::Fill(const std::vector<uint32_t>& order) {
  FillLevel(dataset_.rows, order, kBottomLevel);
}

void ScanDatabase::Rewrite() {
  const Rows& rows = dataset_.rewritten;
  const std::vector<uint32_t> order = RandomOrder(rows.size(), /*seed=*/1);
  const std::span<const uint32_t> all = order;
  const size_t half = order.size() / 2;
  FillLevel(rows, all.first(half), 1);
  for (size_t file = 0; file < kLevel0Files; ++file) {
    const auto part = [&](size_t n) { return half + (order.size() - half) * n / kLevel0Files; };
    PutAndFlush(rows, all.subspan(part(file), part(file + 1) - part(file)));
  }
}

ScanCost ScanDatabase::Scan(const Query& query, bool use_index) {
  SkipScanOptions options;
  options.use_index = use_index;
  return Measure(query, [&](const auto& found) {
    std::unique_ptr<SkipScan> scan;
    Check(SkipScan::Create(&db(), nullptr, query.predicate, options, &scan), "scan");
    for (; scan->Valid(); scan->Next()) found(scan->key(), scan->value());
    Check(scan->status(), "scan");
  });
}

ScanCost ScanDatabase::ReadPruned(const Query& query) {
  std::shared_ptr<ReadPruning> pruning;
  return Read(query, [&] {
    Check(PruneReads(&db(), nullptr, query.predicate.ToText(), {}, &pruning), "pruned reads");
    return pruning->read_options();
  });
}

ScanCost ScanDatabase::Read(const Query& query,
                            const std::function<rocksdb::ReadOptions()>& make_options) {
  return Measure(query, [&](const auto& found) {
    const std::unique_ptr<rocksdb::Iterator> rows(db().NewIterator(make_options()));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) {
      if (query.predicate.Matches(Row(rows->key().ToStringView(), rows->value().ToStringView())))
        found(rows->key(), rows->value());
    }
    Check(rows->status(), "pruned reads");
  });
}

template <class ReadAll>
ScanCost ScanDatabase::Measure(const Query& query, ReadAll read_all) {
  CheckInterrupt();
  ScanCost cost;
  const CounterWindow window(statistics());
  const Stopwatch stopwatch;
  auto expected = query.rows.begin();
  read_all([&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
    if (expected == query.rows.end()) {
      Fail("{}: more rows were returned than match", query.predicate.ToText());
    }
    if (key.ToStringView() != dataset_.rows.key(*expected) ||
        value.ToStringView() != dataset_.rows.value(*expected)) {
      Fail("{}: a row was returned that does not match, or is not the next one",
           query.predicate.ToText());
    }
    ++expected;
  });
  if (expected != query.rows.end()) {
    Fail("{}: fewer rows were returned than match", query.predicate.ToText());
  }
  cost.seconds = stopwatch.Seconds();
  cost.data_blocks = window.Stop().data_blocks_read;
  return cost;
}

}  // namespace blocksieve::bench::skip
