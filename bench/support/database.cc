// SPDX-License-Identifier: Apache-2.0
#include "bench/support/database.h"

#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table_properties.h>

#include <algorithm>

#include "bench/support/measure.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench {
Counters& Counters::operator+=(const Counters& other) {
  for (const auto member :
       {&Counters::lookups, &Counters::found, &Counters::filter_negatives,
        &Counters::filter_positives, &Counters::filter_true_positives, &Counters::data_blocks_read,
        &Counters::data_blocks_cached, &Counters::blocks_read}) {
    this->*member += other.*member;
  }
  return *this;
}

double Counters::fpr() const { return Ratio(false_positives(), absent_probes()); }

CounterWindow::CounterWindow(rocksdb::Statistics& statistics) : statistics_(statistics) {
  statistics_.set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers);
  if (!statistics_.Reset().ok()) Fail("cannot reset RocksDB's statistics");
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
}

CounterWindow::~CounterWindow() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  statistics_.set_stats_level(rocksdb::StatsLevel::kDisableAll);
}

Counters CounterWindow::Stop() const {
  const auto ticker = [&](uint32_t which) { return statistics_.getTickerCount(which); };
  return {
      .lookups = ticker(rocksdb::NUMBER_KEYS_READ),
      .found = ticker(rocksdb::GET_HIT_L0) + ticker(rocksdb::GET_HIT_L1) +
               ticker(rocksdb::GET_HIT_L2_AND_UP),
      .filter_negatives = ticker(rocksdb::BLOOM_FILTER_USEFUL),
      .filter_positives = ticker(rocksdb::BLOOM_FILTER_FULL_POSITIVE),
      .filter_true_positives = ticker(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE),
      .data_blocks_read = ticker(rocksdb::BLOCK_CACHE_DATA_MISS),
      .data_blocks_cached = ticker(rocksdb::BLOCK_CACHE_DATA_HIT),
      .blocks_read = rocksdb::get_perf_context()->block_read_count,
  };
}

rocksdb::BlockBasedTableOptions& TableOptions(rocksdb::Options& options) {
  return *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
}

Database::Database(Contestant contestant, uint64_t num_bytes, std::filesystem::path path)
    : contestant_(std::move(contestant)),
      // Some files even of few rows, and at most RocksDB's default size.
      file_bytes_(std::clamp<uint64_t>(num_bytes / 8, 256 << 10, 64 << 20)),
      path_(std::move(path)),
      statistics_(rocksdb::CreateDBStatistics()) {
  std::filesystem::create_directories(path_);
  statistics_->set_stats_level(rocksdb::StatsLevel::kDisableAll);
}

Database::~Database() = default;

void CheckOk(const rocksdb::Status& status, std::string_view what) {
  if (!status.ok()) Fail("{}: {}", what, status.ToString());
}

void Database::Check(const rocksdb::Status& status, std::string_view what) const {
  CheckOk(status, fmt::format("{}: RocksDB failed to {} {}", name(), what, path_.string()));
}

void Database::SetOptions() {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;  // the newest in 7.8; from 5 on stock Bloom is the current one
  cache_ =
      rocksdb::NewLRUCache(reads_ == Reads::kCold ? 0 : static_cast<size_t>(MemoryBytes() / 2));
  table.block_cache = cache_;
  options_ = rocksdb::Options();
  options_.create_if_missing = true;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.compression = rocksdb::kNoCompression;  // times filters and block reads, not codecs
  options_.level_compaction_dynamic_level_bytes = false;
  options_.target_file_size_base = file_bytes_;
  options_.disable_auto_compactions = true;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1'000;
  options_.write_buffer_size = size_t{1} << 30;  // flushed by hand
  options_.stats_dump_period_sec = 0;
  options_.stats_persist_period_sec = 0;
  options_.statistics = statistics_;
  options_.use_direct_reads = reads_ != Reads::kCached && SupportsDirectReads(path_);
  if (contestant_.set_up) contestant_.set_up(options_);
}

void Database::ForgetReads() { cache_->EraseUnRefEntries(); }

void Database::Open(Reads reads) {
  Close();
  reads_ = reads;
  SetOptions();
  Check(rocksdb_plugin::OpenDb(options_, path_.string(), &db_), "open");
}

void Database::Close() {
  if (db_ == nullptr) return;
  Check(db_->Close(), "close");
  db_.reset();
}

void Database::PutAndFlush(const Rows& rows, std::span<const uint32_t> order) {
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;  // the log has nothing to do with filters and indexes
  for (size_t i = 0; i < order.size(); ++i) {
    if (i % 4'096 == 0) CheckInterrupt();
    Check(db_->Put(write_options, rows.key(order[i]), rows.value(order[i])), "write to");
  }
  Check(db_->Flush(rocksdb::FlushOptions()), "flush");
}

void Database::FillLevel(const Rows& rows, std::span<const uint32_t> order, int level) {
  constexpr uint64_t kWriteBufferBytes = 64 << 20;  // RocksDB's default
  const size_t rows_per_flush = std::max<size_t>(
      1, rows.size() * kWriteBufferBytes / std::max(rows.num_bytes(), kWriteBufferBytes));
  for (size_t next = 0; next < order.size(); next += rows_per_flush) {
    PutAndFlush(rows, order.subspan(next, std::min(rows_per_flush, order.size() - next)));
  }
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::vector<std::string> files;
  for (const auto& file : meta.levels.front().files) files.push_back(file.name);
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kNoCompression;
  options.output_file_size_limit = file_bytes_;
  Check(db_->CompactFiles(options, files, level), "compact");
}

void Database::CheckGet(std::string_view key, std::optional<std::string_view> value) {
  rocksdb::PinnableSlice found;
  const rocksdb::Status status =
      db_->Get({}, db_->DefaultColumnFamily(), {key.data(), key.size()}, &found);
  const bool is_right = value ? status.ok() && found == *value : status.IsNotFound();
  if (is_right) return;
  Fail("{}: key {:?} was {}written but {}", name(), key, value ? "" : "never ",
       value && status.ok() ? "has another value" : "Get says: " + status.ToString());
}

TreeShape Database::Shape() {
  rocksdb::TablePropertiesCollection properties;
  Check(db_->GetPropertiesOfAllTables(&properties), "read the table properties of");
  TreeShape shape;
  for (const auto& [file, table] : properties) {
    ++shape.num_files;
    shape.num_filters += table->filter_size > 0 ? 1 : 0;
    shape.num_entries += table->num_entries;
    shape.filter_bytes += table->filter_size;
    shape.index_bytes += table->index_size;
  }
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  for (const auto& level : meta.levels) {
    if (level.files.empty()) continue;
    LevelShape& seen = shape.levels.emplace_back(LevelShape{level.level, level.files.size(), 0});
    for (const auto& file : level.files) seen.num_entries += file.num_entries;
  }
  return shape;
}

}  // namespace blocksieve::bench
