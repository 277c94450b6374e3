#include "bench/skip/database.h"

#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "bench/support/failure.h"
#include "bench/support/interrupt.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/stopwatch.h"
#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::bench::skip {
namespace {

constexpr int kBottomLevel = 2;
constexpr size_t kLevel0Files = 4;
constexpr uint64_t kFlushBytes = 64 << 20;  // RocksDB's default write buffer
constexpr size_t kCacheBytes = size_t{1} << 30;

rocksdb::Options MakeOptions(const Dataset& dataset, const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = NewFilterPolicy({});  // re-checks of rows are lookups
  table.format_version = 5;
  table.block_cache = cache;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.compression = rocksdb::kNoCompression;  // blocks are counted and timed, not codecs
  options.level_compaction_dynamic_level_bytes = false;
  options.target_file_size_base = TargetFileBytes(dataset.rows.num_bytes());
  // Flushes and compactions happen when Fill and Rewrite say so.
  options.disable_auto_compactions = true;
  options.write_buffer_size = 4 * kFlushBytes;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

}  // namespace

Database::Database(const Dataset& dataset, std::filesystem::path path,
                   const std::optional<SkipIndexOptions>& index, bool direct_reads)
    : dataset_(dataset),
      path_(std::move(path)),
      cache_(rocksdb::NewLRUCache(kCacheBytes)),
      statistics_(rocksdb::CreateDBStatistics()) {
  rocksdb::Options options = MakeOptions(dataset, cache_);
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  options.statistics = statistics_;
  options.use_direct_reads = direct_reads;
  if (index) {
    rocksdb::Status status;
    auto factory = NewSkipIndexCollectorFactory(*index, &status);
    Check(status, "index");
    options.table_properties_collector_factories.push_back(std::move(factory));
  }
  rocksdb::DB* db = nullptr;
  Check(rocksdb::DB::Open(options, path_.string(), &db), "open");
  db_.reset(db);
}

Database::~Database() = default;

void Database::Check(const rocksdb::Status& status, std::string_view what) const {
  if (!status.ok()) Fail("RocksDB failed to {} {}: {}", what, path_.string(), status.ToString());
}

void Database::PutAndFlush(const Rows& rows, const std::vector<uint32_t>& order, size_t begin,
                           size_t end) {
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;  // the log has nothing to do with indexes
  for (size_t i = begin; i < end; ++i) {
    if (i % 4'096 == 0) CheckInterrupt();
    Check(db_->Put(write_options, rows.key(order[i]), rows.value(order[i])), "write to");
  }
  Check(db_->Flush(rocksdb::FlushOptions()), "flush");
}

void Database::Fill(const std::vector<uint32_t>& order) {
  const Rows& rows = dataset_.rows;
  const size_t rows_per_flush =
      std::max<size_t>(1, order.size() * kFlushBytes / std::max(rows.num_bytes(), kFlushBytes));
  for (size_t next = 0; next < order.size(); next += rows_per_flush) {
    PutAndFlush(rows, order, next, std::min(next + rows_per_flush, order.size()));
  }
  Check(MoveLevel0To(*db_, kBottomLevel, TargetFileBytes(rows.num_bytes())), "compact");
}

void Database::Rewrite() {
  const Rows& rows = dataset_.rewritten;
  const std::vector<uint32_t> order = RandomOrder(rows.size(), /*seed=*/1);
  const size_t half = order.size() / 2;
  PutAndFlush(rows, order, 0, half);
  Check(MoveLevel0To(*db_, 1, TargetFileBytes(dataset_.rows.num_bytes())), "compact");
  for (size_t file = 0; file < kLevel0Files; ++file) {
    const auto part = [&](size_t n) { return half + (order.size() - half) * n / kLevel0Files; };
    PutAndFlush(rows, order, part(file), part(file + 1));
  }
}

ScanCost Database::Scan(const Query& query, const std::vector<std::string_view>& values,
                        Temperature temperature, bool use_index) {
  CheckInterrupt();
  if (temperature == Temperature::kCold) cache_->EraseUnRefEntries();
  const uint64_t blocks_before = statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  SkipScanOptions options;
  options.use_index = use_index;
  ScanCost cost;
  const Stopwatch stopwatch;
  std::unique_ptr<SkipScan> scan;
  Check(SkipScan::Create(db_.get(), nullptr, query.predicate, options, &scan), "scan");
  auto expected = query.rows.begin();
  for (; scan->Valid() && expected != query.rows.end(); scan->Next(), ++expected) {
    if (scan->key().ToStringView() != dataset_.rows.key(*expected) ||
        scan->value().ToStringView() != values[*expected]) {
      Fail("{}: a scan returned a row that does not match, or is not the next one",
           query.predicate.ToText());
    }
  }
  Check(scan->status(), "scan");
  if (scan->Valid() || expected != query.rows.end()) {
    Fail("{}: a scan returned {} rows than match", query.predicate.ToText(),
         scan->Valid() ? "more" : "fewer");
  }
  cost.seconds = stopwatch.Seconds();
  cost.data_blocks = statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS) - blocks_before;
  cost.explanation = scan->Explain();
  return cost;
}

SkipIndexSummary Database::Indexes() {
  SkipIndexSummary summary;
  Check(ReadSkipIndexes(db_.get(), nullptr, &summary), "read the indexes of");
  return summary;
}

std::vector<uint32_t> KeyOrder(size_t num_rows) {
  std::vector<uint32_t> order(num_rows);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<uint32_t> RandomOrder(size_t num_rows, uint64_t seed) {
  std::vector<uint32_t> order = KeyOrder(num_rows);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

}  // namespace blocksieve::bench::skip
