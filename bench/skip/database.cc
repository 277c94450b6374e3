#include "bench/skip/database.h"

#include <rocksdb/table.h>

#include <span>
#include <utility>

#include "bench/support/measure.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/listener.h"
#include "integration/rocksdb/compat/cache.h"
#include "integration/rocksdb/compat/open_db.h"

namespace blocksieve::bench::skip {
namespace {

constexpr int kBottomLevel = 2;
constexpr size_t kLevel0Files = 4;
constexpr size_t kCacheBytes = size_t{1} << 30;

}  // namespace

Database::Database(const Dataset& dataset, std::filesystem::path path,
                   const std::optional<SkipIndexOptions>& index, bool direct_reads)
    : dataset_(dataset),
      path_(std::move(path)),
      cache_(rocksdb::NewLRUCache(kCacheBytes)),
      statistics_(rocksdb::CreateDBStatistics()) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = NewFilterPolicy({});  // re-checks of rows are lookups
  table.format_version = 5;
  table.block_cache = cache_;
  rocksdb::Options options = HandShapedOptions(dataset.rows.num_bytes(), table);
  options.error_if_exists = true;
  statistics_->set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  options.statistics = statistics_;
  options.use_direct_reads = direct_reads;
  if (index) {
    rocksdb::Status status;
    auto factory = NewSkipIndexCollectorFactory(*index, &status);
    Check(status, "index");
    options.table_properties_collector_factories.push_back(std::move(factory));
    options.listeners.push_back(NewListener());
  }
  Check(rocksdb_plugin::OpenDb(options, path_.string(), &db_), "open");
}

Database::~Database() = default;

void Database::Check(const rocksdb::Status& status, std::string_view what) const {
  if (!status.ok()) Fail("RocksDB failed to {} {}: {}", what, path_.string(), status.ToString());
}

void Database::Fill(const std::vector<uint32_t>& order) {
  Check(FillLevel(*db_, dataset_.rows, order, kBottomLevel,
                  TargetFileBytes(dataset_.rows.num_bytes())),
        "fill");
}

void Database::Rewrite() {
  const Rows& rows = dataset_.rewritten;
  const std::vector<uint32_t> order = RandomOrder(rows.size(), /*seed=*/1);
  const std::span<const uint32_t> all = order;
  const size_t half = order.size() / 2;
  Check(FillLevel(*db_, rows, all.first(half), 1, TargetFileBytes(dataset_.rows.num_bytes())),
        "rewrite");
  for (size_t file = 0; file < kLevel0Files; ++file) {
    const auto part = [&](size_t n) { return half + (order.size() - half) * n / kLevel0Files; };
    Check(PutAndFlush(*db_, rows, all.subspan(part(file), part(file + 1) - part(file))), "rewrite");
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

}  // namespace blocksieve::bench::skip
