#include <fmt/format.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "bench/skip/experiment.h"
#include "bench/support/database.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/listener.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr double kSstBytes = 64 << 20;  // RocksDB's default
constexpr double kTebibyte = uint64_t{1} << 40;

// A database that is not shaped for scans, but as users have theirs: index blocks and filters are
// in the block cache. `max_property_bytes`: none without an index.
class Carrier : public Database {
 public:
  Carrier(const Dataset& dataset, const char* name, std::filesystem::path path,
          std::optional<uint64_t> max_property_bytes)
      : Database(
            {name,
             [&dataset, max_property_bytes](rocksdb::Options& options) {
               rocksdb::BlockBasedTableOptions& table = TableOptions(options);
               table.filter_policy = NewFilterPolicy({});
               table.cache_index_and_filter_blocks = true;
               table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
               if (!max_property_bytes) return;
               SkipIndexOptions index;
               index.columns = dataset.Columns();
               index.max_property_bytes = *max_property_bytes;
               options.table_properties_collector_factories = {NewSkipIndexCollectorFactory(index)};
               options.listeners = {NewListener()};
             }},
            dataset.rows.num_bytes(), std::move(path)) {
    Open(Reads::kCached);
    FillLevel(dataset.rows, KeyOrder(dataset.rows.size()), 1);
    Open(Reads::kCached);  // nothing of the filling is in memory
    MeasureAtRest();
  }

  // Looks absent keys up, each once. The first half brings back what scans, the one that reads all
  // rows above all, drove out of the processor's caches or into them, and is not counted.
  void LookUp(std::span<const std::string> keys) {
    const size_t half = keys.size() / 2;
    LookUpEach(keys.first(half));
    const CounterWindow window(statistics());
    const Stopwatch stopwatch;
    LookUpEach(keys.subspan(half));
    lookup_seconds_.push_back(stopwatch.Seconds() / static_cast<double>(keys.size() - half));
    lookup_bytes_ += static_cast<double>(window.Stop().bytes_read);
  }

  // What it reads is not cached: a full scan, where there is no index, would leave lookups nothing
  // to read.
  void Scan(const Predicate& predicate) {
    SkipScanOptions options;
    options.read_options.fill_cache = false;
    std::unique_ptr<SkipScan> scan;
    Check(SkipScan::Create(&db(), nullptr, predicate, options, &scan), "scan");
    while (scan->Valid()) scan->Next();
    Check(scan->status(), "scan");
  }

  // Beside what `plain`, without an index, takes.
  void AddTo(Results& results, const Carrier& plain) const {
    const double resident = (resident_bytes_ - plain.resident_bytes_) / num_ssts_;
    results.Of(name())
        .Add("SSTs", "bytes", sst_bytes_)
        .Add("sidecars", "bytes", sidecar_bytes_)
        .Add("resident per SST", "bytes", resident)
        .Add("resident for 1 TiB of data", "bytes", resident * kTebibyte / kSstBytes)
        .Add("bytes that keep an SST from opening", "share", unopenable_share_)
        .Add("the same, beyond those without an index", "share",
             unopenable_share_ - plain.unopenable_share_)
        .AddTurns("lookup: time", "s", lookup_seconds_)
        .Add("lookup: of no index", "x", PairedRatio(lookup_seconds_, plain.lookup_seconds_))
        .Add("lookup: bytes read", "bytes", lookup_bytes_)
        .Add("lookup: bytes, of no index", "x", lookup_bytes_ / std::max(1.0, plain.lookup_bytes_));
  }

 private:
  void MeasureAtRest() {
    uint64_t resident = 0;
    db().GetIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem, &resident);
    resident_bytes_ = static_cast<double>(resident);
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const double bytes = entry.is_regular_file() ? static_cast<double>(entry.file_size()) : 0;
      if (entry.path().extension() == ".sst") {
        ++num_ssts_;
        sst_bytes_ += bytes;
      }
      if (entry.path().extension() == ".bsx") sidecar_bytes_ += bytes;
    }
    // Every byte of one SST after the data blocks is tried; opening reads none of these.
    rocksdb::TablePropertiesCollection files;
    Check(db().GetPropertiesOfAllTables(&files), "read properties of");
    const auto& [sst, properties] = *files.begin();
    std::ifstream file(sst, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    unopenable_share_ =
        static_cast<double>(CountUnopenable(bytes, properties->data_size, bytes.size())) /
        static_cast<double>(bytes.size());
  }

  void LookUpEach(std::span<const std::string> keys) {
    std::string value;
    for (const std::string& key : keys) {
      if (!db().Get({}, key, &value).IsNotFound()) Fail("an absent key was found");
    }
  }

  // Bytes from `begin` to `end` of which one bit that flips keeps the SST, and so the database,
  // from opening. In a process of its own: a RocksDB that was built with assertions, as Debian's
  // is, ends it at some damage. Halves then tell at which.
  uint64_t CountUnopenable(const std::string& bytes, size_t begin, size_t end) {
    const TempDir dir(path());
    const std::string damaged = (dir.path() / "damaged.sst").string();
    std::ofstream(damaged, std::ios::binary) << bytes;
    const auto count = [&] {
      std::freopen("/dev/null", "w", stderr);  // what the assertion says
      std::fstream out(damaged, std::ios::binary | std::ios::in | std::ios::out);
      uint64_t num_unopenable = 0;
      for (size_t at = begin; at < end; ++at) {
        if (at % 1024 == 0) CheckInterrupt();
        const auto write = [&](char byte) {
          out.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
        };
        write(static_cast<char>(bytes[at] ^ 1 << at % 8));
        rocksdb::SstFileReader reader(options());
        num_unopenable += !reader.Open(damaged).ok();
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

  double num_ssts_ = 0;
  double sst_bytes_ = 0;
  double sidecar_bytes_ = 0;
  double resident_bytes_ = 0;  // of table readers, outside of the block cache, at rest
  double unopenable_share_ = 0;
  double lookup_bytes_ = 0;             // of all lookups
  std::vector<double> lookup_seconds_;  // of one, by round
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

void MeasureCarriers(const Dataset& dataset, const Effort& effort, const Place& place,
                     Results& results) {
  const std::pair<const char*, std::optional<uint64_t>> carriers[] = {
      {"no index", std::nullopt},
      {"properties", UINT64_MAX},
      {"sidecars", SkipIndexOptions().max_property_bytes}};
  const TempDir dir(place.db_dir);
  std::vector<std::unique_ptr<Carrier>> databases;
  for (const auto& [name, max_property_bytes] : carriers) {
    place.progress.Show(fmt::format("{} rows, {}: at rest", dataset.name, name));
    databases.push_back(
        std::make_unique<Carrier>(dataset, name, dir.path() / name, max_property_bytes));
  }
  const Predicate where =
      DrawQueries(dataset, 0, dataset.Values(false), 1, place.seed).front().predicate;
  std::vector<std::string> keys;
  InTurns(effort.lookup_rounds, databases.size(), [&](size_t i, unsigned round) {
    place.progress.Show(fmt::format("{} rows, lookups beside scans, round {} of {}", dataset.name,
                                    round + 1, effort.lookup_rounds));
    keys = AbsentKeys(dataset, effort.lookups, place.seed + round);
    databases[i]->Scan(where);
    databases[i]->LookUp(keys);
  });
  for (const auto& database : databases) database->AddTo(results, *databases.front());
}

}  // namespace blocksieve::bench::skip
