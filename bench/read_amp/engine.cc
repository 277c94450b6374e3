#include "bench/read_amp/engine.h"

#include <rocksdb/cache.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bench/support/measure.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/terminal.h"
#include "integration/rocksdb/compat/open_db.h"

namespace blocksieve::bench::read_amp {
namespace {

// RocksDB's defaults: level0_file_num_compaction_trigger, and level 1 as large as so many level-0
// files (4 x 64 MB = 256 MB), and max_bytes_for_level_multiplier.
constexpr size_t kLevel0Files = 4;
constexpr size_t kLevelRatio = 10;

// Bytes that do not print become \xNN.
std::string Quoted(std::string_view key) {
  std::string text = "\"";
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text + '"';
}

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

}  // namespace

Engine::Engine(const Contestant& contestant, const Rows& rows, std::filesystem::path path,
               bool direct_reads)
    : contestant_(contestant),
      rows_(rows),
      path_(std::move(path)),
      direct_reads_(direct_reads),
      policy_(MakePolicy(contestant)),
      statistics_(rocksdb::CreateDBStatistics()) {
  statistics_->set_stats_level(rocksdb::StatsLevel::kDisableAll);
}

Engine::~Engine() = default;

rocksdb::Options Engine::MakeOptions(Temperature temperature) const {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy_;
  table.format_version = 5;  // the newest in 7.8; from 5 on stock Bloom is the current one
  table.block_cache = rocksdb::NewLRUCache(
      temperature == Temperature::kCold ? 0 : static_cast<size_t>(MemoryBytes() / 2));

  rocksdb::Options options = HandShapedOptions(rows_.num_bytes(), table);
  options.create_if_missing = false;
  options.statistics = statistics_;
  options.use_direct_reads = direct_reads_ && temperature == Temperature::kCold;
  return options;
}

void Engine::Check(const rocksdb::Status& status, std::string_view what) const {
  if (!status.ok()) {
    Fail("{}: RocksDB failed to {} {}: {}", contestant_.name, what, path_.string(),
         status.ToString());
  }
}

void Engine::OpenWith(const rocksdb::Options& options) {
  Close();
  Check(rocksdb_plugin::OpenDb(options, path_.string(), &db_), "open");
}

void Engine::Open(Temperature temperature) { OpenWith(MakeOptions(temperature)); }

void Engine::Close() {
  if (db_ == nullptr) return;
  Check(db_->Close(), "close");
  db_.reset();
}

double Engine::Fill(const std::vector<uint32_t>& order) {
  rocksdb::Options options = MakeOptions(Temperature::kWarm);
  options.create_if_missing = true;
  options.error_if_exists = true;
  OpenWith(options);

  const size_t level0_file_rows = order.size() / (kLevel0Files * (1 + 1 + kLevelRatio));
  const size_t level1_rows = kLevel0Files * level0_file_rows;
  const size_t level2_rows = order.size() - level1_rows - kLevel0Files * level0_file_rows;
  const Stopwatch stopwatch;
  std::span<const uint32_t> rest = order;
  const auto take = [&rest](size_t count) {
    const auto first = rest.first(count);
    rest = rest.subspan(count);
    return first;
  };
  for (const auto& [level, num_rows] : {std::pair{2, level2_rows}, std::pair{1, level1_rows}}) {
    Check(FillLevel(*db_, rows_, take(num_rows), level, TargetFileBytes(rows_.num_bytes())),
          "fill");
  }
  for (size_t file = 0; file < kLevel0Files; ++file) {
    Check(PutAndFlush(*db_, rows_, take(level0_file_rows)), "fill");
  }
  const double seconds = stopwatch.Seconds();
  Close();
  return seconds;
}

double Engine::CompactAll() {
  Open(Temperature::kWarm);
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  const Stopwatch stopwatch;
  Check(db_->CompactRange(options, nullptr, nullptr), "compact");
  const double seconds = stopwatch.Seconds();
  Close();
  return seconds;
}

TreeShape Engine::Shape() {
  assert(db_ != nullptr);
  rocksdb::TablePropertiesCollection properties;
  Check(db_->GetPropertiesOfAllTables(&properties), "read the table properties of");
  TreeShape shape;
  const std::string policy_name = policy_ == nullptr ? "" : policy_->Name();
  for (const auto& [file, table] : properties) {
    shape.num_entries += table->num_entries;
    shape.filter_bytes += table->filter_size;
    shape.data_bytes += table->data_size;
    const bool has_filter = table->filter_size > 0;
    if (table->filter_policy_name != policy_name || has_filter != (policy_ != nullptr)) {
      Fail("{}: {} was written with filter policy \"{}\" and has a filter of {} bytes",
           contestant_.name, file, table->filter_policy_name, table->filter_size);
    }
  }
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  for (const auto& level : meta.levels) {
    if (level.files.empty()) continue;
    LevelShape& seen = shape.levels.emplace_back();
    seen.level = level.level;
    seen.num_files = level.files.size();
    for (const auto& file : level.files) seen.num_entries += file.num_entries;
  }
  return shape;
}

void Engine::CheckPresent(size_t row, rocksdb::PinnableSlice& value) {
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), rows_.key(row), &value);
  if (!status.ok() || View(value) != rows_.value(row)) {
    Fail("{}: key {} was written but {}", contestant_.name, Quoted(rows_.key(row)),
         status.ok() ? "has another value" : "Get says: " + status.ToString());
  }
  value.Reset();
}

void Engine::CheckAbsent(const std::string& key, rocksdb::PinnableSlice& value) {
  const rocksdb::Status status =
      db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), key, &value);
  if (!status.IsNotFound()) {
    Fail("{}: key {} was never written but Get says: {}", contestant_.name, Quoted(key),
         status.ToString());
  }
}

void Engine::VerifyAllRows() {
  assert(db_ != nullptr);
  rocksdb::PinnableSlice value;
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (row % 4'096 == 0) CheckInterrupt();
    CheckPresent(row, value);
  }
}

template <class LookUpOne>
Pass Engine::Run(size_t num_keys, bool present, double max_seconds, Counters* counters,
                 LookUpOne look_up_one) {
  assert(db_ != nullptr);
  // The clock is read this often: rarely enough not to be seen in 2 us lookups.
  constexpr size_t kBatch = 100;
  std::optional<CounterWindow> window;
  if (counters != nullptr) window.emplace(*statistics_);
  const Stopwatch stopwatch;
  Pass pass;
  while (pass.lookups < num_keys) {
    CheckInterrupt();
    for (const size_t end = std::min(pass.lookups + kBatch, num_keys); pass.lookups < end;) {
      look_up_one(pass.lookups++);
    }
    pass.seconds = stopwatch.Seconds();
    if (pass.seconds >= max_seconds) break;
  }
  if (counters != nullptr) {
    const Counters counted = window->Stop();
    if (counted.lookups != pass.lookups || counted.found != (present ? pass.lookups : 0)) {
      Fail("{}: after {} lookups of {} keys RocksDB counted {}, {} of them found in files",
           contestant_.name, pass.lookups, present ? "present" : "absent", counted.lookups,
           counted.found);
    }
    *counters += counted;
  }
  return pass;
}

Pass Engine::LookUpPresent(const LookupKeys& keys, double max_seconds, Counters* counters) {
  rocksdb::PinnableSlice value;
  return Run(keys.present.size(), /*present=*/true, max_seconds, counters,
             [&](size_t i) { CheckPresent(keys.present[i], value); });
}

Pass Engine::LookUpAbsent(const LookupKeys& keys, double max_seconds, Counters* counters) {
  rocksdb::PinnableSlice value;
  return Run(keys.absent.size(), /*present=*/false, max_seconds, counters,
             [&](size_t i) { CheckAbsent(keys.absent[i], value); });
}

}  // namespace blocksieve::bench::read_amp
