#include "bench/skip/carriers.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "bench/support/measure.h"
#include "bench/support/rocksdb_tree.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/listener.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/open_db.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kCacheBytes = size_t{64} << 20;

void Check(const rocksdb::Status& status, std::string_view what) {
  if (!status.ok()) Fail("RocksDB failed to {}: {}", what, status.ToString());
}

/// A database that is not shaped for scans, but as users have theirs: index blocks and filters are
/// in the block cache.
class Carrier {
 public:
  Carrier(const Dataset& dataset, std::string name, std::filesystem::path path,
          std::optional<uint64_t> max_property_bytes)
      : path_(std::move(path)) {
    result_.dataset = dataset.name;
    result_.carrier = std::move(name);
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy = NewFilterPolicy({});
    table.cache_index_and_filter_blocks = true;
    table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
    options_ = HandShapedOptions(dataset.rows.num_bytes(), table);
    if (max_property_bytes) {
      SkipIndexOptions index;
      index.columns = dataset.Columns();
      index.max_property_bytes = *max_property_bytes;
      options_.table_properties_collector_factories = {NewSkipIndexCollectorFactory(index)};
      options_.listeners = {NewListener()};
    }
    Open();
    Check(FillLevel(*db_, dataset.rows, KeyOrder(dataset.rows.size()), 1,
                    TargetFileBytes(dataset.rows.num_bytes())),
          "fill");
    db_.reset();
    Open();  // nothing of the filling is in memory
  }

  void MeasureAtRest() {
    db_->GetIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem, &result_.resident_bytes);
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      const uint64_t bytes = entry.is_regular_file() ? entry.file_size() : 0;
      if (entry.path().extension() == ".sst") {
        ++result_.num_ssts;
        result_.sst_bytes += bytes;
      }
      if (entry.path().extension() == ".bsx") result_.sidecar_bytes += bytes;
    }
    result_.unopenable_bytes = CountUnopenable();
  }

  /// Keys that are not there, each once. The first half brings back what scans, the one that reads
  /// all rows above all, drove out of the processor's caches or into them, and is not counted.
  void LookUp(std::span<const std::string> keys) {
    const size_t half = keys.size() / 2;
    LookUpEach(keys.first(half));
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    const Stopwatch stopwatch;
    LookUpEach(keys.subspan(half));
    result_.lookup_nanoseconds.push_back(1e9 * stopwatch.Seconds() /
                                         static_cast<double>(keys.size() - half));
    result_.lookup_bytes += rocksdb::get_perf_context()->block_read_byte;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  }

  /// What it reads is not cached: a full scan, where there is no index, would leave lookups nothing
  /// to read.
  void Scan(const Predicate& predicate) {
    SkipScanOptions options;
    options.read_options.fill_cache = false;
    std::unique_ptr<SkipScan> scan;
    Check(SkipScan::Create(db_.get(), nullptr, predicate, options, &scan), "scan");
    for (; scan->Valid(); scan->Next()) continue;
    Check(scan->status(), "scan");
  }

  CarrierResult result() && { return std::move(result_); }

 private:
  void Open() { Check(rocksdb_plugin::OpenDb(options_, path_.string(), &db_), "open"); }

  void LookUpEach(std::span<const std::string> keys) {
    std::string value;
    for (const std::string& key : keys) {
      if (!db_->Get({}, key, &value).IsNotFound()) Fail("a key is found that is not there");
    }
  }

  /// Of one SST, the bytes of which one bit that flips keeps it, and so the database, from opening.
  /// Every byte behind the data blocks is tried; of these themselves, opening reads nothing.
  uint64_t CountUnopenable() {
    rocksdb::TablePropertiesCollection files;
    Check(db_->GetPropertiesOfAllTables(&files), "read properties");
    const auto& [path, properties] = *files.begin();
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    result_.tried_sst_bytes = bytes.size();
    const uint64_t num_unopenable = CountUnopenable(bytes, properties->data_size, bytes.size());
    std::filesystem::remove(damaged_path());
    return num_unopenable;
  }

  /// Of those from `begin` to `end`. In a process of its own: a RocksDB that was built with
  /// assertions, as Debian's is, ends it at some damage. Halves then tell at which.
  uint64_t CountUnopenable(const std::string& bytes, size_t begin, size_t end) {
    std::ofstream(damaged_path(), std::ios::binary) << bytes;
    const auto count = [&] {
      std::freopen("/dev/null", "w", stderr);  // what the assertion says
      std::fstream out(damaged_path(), std::ios::binary | std::ios::in | std::ios::out);
      uint64_t num_unopenable = 0;
      for (size_t at = begin; at < end; ++at) {
        if (at % 1024 == 0) CheckInterrupt();
        const auto write = [&](char byte) {
          out.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
        };
        write(static_cast<char>(bytes[at] ^ 1 << at % 8));
        rocksdb::SstFileReader reader(options_);
        num_unopenable += !reader.Open(damaged_path()).ok();
        write(bytes[at]);
      }
      return num_unopenable;
    };
    try {
      return InOwnProcess("opening a damaged SST", count);
    } catch (const Failure&) {
      if (end - begin == 1) return 1;
      const size_t middle = begin + (end - begin) / 2;
      return CountUnopenable(bytes, begin, middle) + CountUnopenable(bytes, middle, end);
    }
  }

  std::string damaged_path() const { return (path_ / "damaged.tmp").string(); }

  const std::filesystem::path path_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::DB> db_;
  CarrierResult result_;
};

std::vector<std::string> AbsentKeys(const Dataset& dataset, size_t num, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  for (size_t i = 0; i < num; ++i) {
    keys.push_back(std::string(dataset.rows.key(random() % dataset.rows.size())) + "\x01");
  }
  return keys;
}

}  // namespace

std::vector<CarrierResult> MeasureCarriers(const Dataset& dataset, unsigned rounds,
                                           size_t num_lookups, uint64_t seed,
                                           const std::filesystem::path& db_dir,
                                           Progress& progress) {
  const std::pair<const char*, std::optional<uint64_t>> carriers[] = {
      {"no index", std::nullopt},
      {"properties", UINT64_MAX},
      {"sidecars", SkipIndexOptions().max_property_bytes}};
  std::vector<std::unique_ptr<Carrier>> databases;
  for (const auto& [name, max_property_bytes] : carriers) {
    progress.Show(fmt::format("{} rows, {}: at rest", dataset.name, name));
    databases.push_back(
        std::make_unique<Carrier>(dataset, name, db_dir / name, max_property_bytes));
    databases.back()->MeasureAtRest();
  }
  const Predicate where = DrawQueries(dataset, 0, dataset.Values(false), 1, seed).front().predicate;
  for (unsigned round = 0; round < rounds; ++round) {
    progress.Show(fmt::format("{} rows, lookups beside scans, round {} of {}", dataset.name,
                              round + 1, rounds));
    const std::vector<std::string> keys = AbsentKeys(dataset, num_lookups, seed + round);
    for (size_t i = 0; i < databases.size(); ++i) {
      Carrier& database = *databases[(i + round) % databases.size()];
      database.Scan(where);
      database.LookUp(keys);
    }
  }
  std::vector<CarrierResult> results;
  for (auto& database : databases) results.push_back(std::move(*database).result());
  databases.clear();
  for (const auto& [name, unused] : carriers) std::filesystem::remove_all(db_dir / name);
  return results;
}

}  // namespace blocksieve::bench::skip
