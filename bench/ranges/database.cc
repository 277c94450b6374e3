#include "bench/ranges/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/metadata.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/terminal.h"
#include "integration/rocksdb/compat/open_db.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr size_t kCacheBytes = size_t{1} << 30;
constexpr std::string_view kValue = "a value of thirty-two bytes long";

// What EnableRangeFilter's policy logs, range_bits.cc.
constexpr std::string_view kRefusal = "no range filter written";

}  // namespace

// Counts what it is to be counted, and keeps nothing.
class Database::Log final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;

  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    refusals_ += std::string_view(line).find(kRefusal) != std::string_view::npos;
  }

  uint64_t refusals() const { return refusals_; }

 private:
  std::atomic<uint64_t> refusals_ = 0;
};

Database::Database(Role role, std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor,
                   std::filesystem::path path)
    : role_(role),
      prefix_extractor_(std::move(prefix_extractor)),
      path_(std::move(path)),
      log_(std::make_shared<Log>()) {}

Database::~Database() = default;

void Database::Check(const rocksdb::Status& status, const char* what) const {
  if (!status.ok()) Fail("{}: RocksDB failed to {}: {}", RoleName(role_), what, status.ToString());
}

double Database::Seconds(const Stopwatch& stopwatch) const {
  return temperature_ == Temperature::kCold ? stopwatch.Seconds() : stopwatch.CpuSeconds();
}

void Database::Open(Temperature temperature) {
  temperature_ = temperature;
  if (db_ != nullptr) Check(db_->Close(), "close");
  db_.reset();
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;  // the newest in 7.8
  if (temperature == Temperature::kCold) {
    table.no_block_cache = true;
  } else {
    table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  }
  rocksdb::Options options = HandShapedOptions(0, table);
  options.write_buffer_size = size_t{1} << 30;  // flushed by hand
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1'000;
  options.info_log = log_;
  std::filesystem::create_directories(path_);
  options.use_direct_reads = temperature == Temperature::kCold && SupportsDirectReads(path_);
  SetUp(role_, prefix_extractor_, table, &options);
  Check(rocksdb_plugin::OpenDb(options, path_.string(), &db_), "open");
}

std::vector<double> Database::Fill(std::span<const std::vector<std::string>> runs) {
  Open(Temperature::kCached);
  rocksdb::WriteOptions write;
  write.disableWAL = true;  // the log has nothing to do with filters
  std::vector<double> seconds;
  for (const std::vector<std::string>& run : runs) {
    CheckInterrupt();
    const Stopwatch stopwatch;
    for (const std::string& key : run)
      Check(db_->Put(write, key, {kValue.data(), kValue.size()}), "write");
    Check(db_->Flush({}), "flush");
    seconds.push_back(stopwatch.CpuSeconds());
  }
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  if (meta.levels.front().files.size() != runs.size() || meta.file_count != runs.size()) {
    Fail("{}: {} files for {} runs", RoleName(role_), meta.file_count, runs.size());
  }
  return seconds;
}

uint64_t Database::FilterBytes() {
  rocksdb::TablePropertiesCollection properties;
  Check(db_->GetPropertiesOfAllTables(&properties), "read table properties");
  uint64_t bytes = 0;
  for (const auto& [file, table] : properties) bytes += table->filter_size;
  return bytes;
}

uint64_t Database::refusals() const { return log_->refusals(); }

uint64_t Database::Scan(const Range& range) {
  const rocksdb::Slice end(range.end);
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(SeekOptions(role_, &end)));
  uint64_t keys = 0;
  for (iterator->Seek(range.begin); iterator->Valid(); iterator->Next()) ++keys;
  Check(iterator->status(), "scan");
  return keys;
}

void Database::Put(std::string_view key) {
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  Check(db_->Put(write, {key.data(), key.size()}, {kValue.data(), kValue.size()}), "write");
}

double Database::TimeScans(std::span<const Range> ranges, uint64_t keys_in_each) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  for (const Range& range : ranges) {
    const uint64_t found = Scan(range);
    if (found != keys_in_each) {
      Fail("{}: a range of {} keys has {}", RoleName(role_), keys_in_each, found);
    }
  }
  return 1e9 * Seconds(stopwatch) / static_cast<double>(ranges.size());
}

double Database::TimeGets(std::span<const std::string> keys, bool are_present) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  rocksdb::PinnableSlice value;
  for (const std::string& key : keys) {
    const rocksdb::Status status = db_->Get({}, db_->DefaultColumnFamily(), key, &value);
    if (are_present ? !status.ok() : !status.IsNotFound()) {
      Fail("{}: Get of a key that is {}there: {}", RoleName(role_), are_present ? "" : "not ",
           status.ToString());
    }
    value.Reset();
  }
  return 1e9 * Seconds(stopwatch) / static_cast<double>(keys.size());
}

void Database::ReadAll() {
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator({}));
  iterator->SeekToFirst();
  while (iterator->Valid()) iterator->Next();
  Check(iterator->status(), "read");
}

BlockCount::BlockCount() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
}

BlockCount::~BlockCount() { rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable); }

uint64_t BlockCount::data_blocks() const {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  return perf.block_cache_hit_count + perf.block_read_count - perf.block_cache_index_hit_count -
         perf.index_block_read_count - perf.block_cache_filter_hit_count -
         perf.filter_block_read_count;
}

}  // namespace blocksieve::bench::ranges
