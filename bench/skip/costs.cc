#include <fmt/format.h>

#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"
#include "bench/support/measure.h"

namespace blocksieve::bench::skip {
namespace {

constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr double kSstBytes = 64 << 20;  // RocksDB's default
constexpr double kTebibyte = uint64_t{1} << 40;

// A database with users' options rather than a scan benchmark's: index blocks and filters are in
// the block cache. Empty `max_property_bytes`: no skip index.
class Carrier : public Database {
 public:
  Carrier(const Dataset& dataset, const char* name, std::filesystem::path path,
          std::optional<uint64_t> max_property_bytes)
      : Database({name,
                  [&dataset, max_property_bytes](rocksdb::Options& options) {
                    std::optional<SkipIndexOptions> index;
                    if (max_property_bytes) {
                      index.emplace().columns = dataset.Columns();
                      index->max_property_bytes = *max_property_bytes;
                    }
                    SetUp(index, options);
                    TableOptions(options).cache_index_and_filter_blocks = true;
                    TableOptions(options).block_cache = rocksdb::NewLRUCache(kCacheBytes);
                  }},
                 dataset.rows.num_bytes(), std::move(path)) {
    Open(Reads::kCached);
    FillLevel(dataset.rows, KeyOrder(dataset.rows.size()), 1);
    Open(Reads::kCached);  // nothing of the filling is in memory
    MeasureAtRest();
  }

  // Looks up absent keys, each once. The first half is not counted: it restores the processor's
  // caches, which scans, above all the full one, have changed.
  void LookUp(std::span<const std::string> keys) {
    const size_t half = keys.size() / 2;
    for (const std::string& key : keys.first(half)) CheckGet(key, std::nullopt);
    const CounterWindow window(statistics());
    const Stopwatch stopwatch;
    for (const std::string& key : keys.subspan(half)) CheckGet(key, std::nullopt);
    lookup_seconds_.push_back(Ratio(stopwatch.Seconds(), keys.size() - half));
    lookup_bytes_ += window.Stop().bytes_read;
  }

  // Without filling the cache: after a full scan, if there is no index, lookups would read nothing.
  void Scan(const Predicate& predicate) {
    SkipScanOptions options;
    options.read_options.fill_cache = false;
    std::unique_ptr<SkipScan> scan;
    Check(SkipScan::Create(&db(), nullptr, predicate, options, &scan), "scan");
    while (scan->Valid()) scan->Next();
    Check(scan->status(), "scan");
  }

  // Adds rows with the figures compared to `plain`, which has no index.
  void AddTo(Results& results, const Carrier& plain) const {
    const double resident = Ratio(resident_bytes_ - plain.resident_bytes_, num_ssts_);
    results.Of(name())
        .Add("SSTs", "bytes", sst_bytes_)
        .Add("sidecars", "bytes", sidecar_bytes_)
        .Add("resident per SST", "bytes", resident)
        .Add("resident for 1 TiB of data", "bytes", resident * kTebibyte / kSstBytes)
        .AddTurns("lookup: time", "s", lookup_seconds_)
        .Add("lookup: relative to no index", "x",
             PairedRatio(lookup_seconds_, plain.lookup_seconds_))
        .Add("lookup: bytes read", "bytes", lookup_bytes_);
  }

 private:
  void MeasureAtRest() {
    db().GetIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem, &resident_bytes_);
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const uint64_t bytes = entry.is_regular_file() ? entry.file_size() : 0;
      if (entry.path().extension() == ".sst") {
        ++num_ssts_;
        sst_bytes_ += bytes;
      }
      if (entry.path().extension() == ".bsx") sidecar_bytes_ += bytes;
    }
  }

  uint64_t num_ssts_ = 0;
  uint64_t sst_bytes_ = 0;
  uint64_t sidecar_bytes_ = 0;
  uint64_t resident_bytes_ = 0;         // of table readers, outside the block cache, before reads
  uint64_t lookup_bytes_ = 0;           // read by all lookups
  std::vector<double> lookup_seconds_;  // per lookup, by round
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

void MeasureWriteCost(const Dataset& dataset, const Effort& effort, Job& job) {
  const std::vector<uint32_t> order = RandomOrder(dataset.rows.size(), job.options.seed);
  for (size_t column = 0; column < effort.write_columns; ++column) {
    const std::string name = NameOf(dataset, dataset.columns[column]);
    std::vector<double> seconds[2], processor[2];  // without an index and with one
    InTurns(effort.write_rounds, 2, [&](size_t with, unsigned turn) {
      job.progress.Show(fmt::format("{}: filling with and without index, round {} of {}", name,
                                    turn + 1, effort.write_rounds));
      std::optional<SkipIndexOptions> index;
      if (with == 1) index.emplace().columns = {dataset.columns[column].column};
      const TempDir dir(job.db_dir);
      ScanDatabase database(dataset, dir.path(), index);
      const Stopwatch stopwatch;
      database.Fill(order);
      seconds[with].push_back(stopwatch.Seconds());
      processor[with].push_back(stopwatch.CpuSeconds());
    });
    job.results.Of("filling", {{"column", name}})
        .AddTurns("time: without", "s", seconds[0])
        .AddTurns("time: with", "s", seconds[1])
        .Add("time: ratio", "x", PairedRatio(seconds[1], seconds[0]))
        .AddTurns("processor: without", "s", processor[0])
        .AddTurns("processor: with", "s", processor[1])
        .Add("processor: ratio", "x", PairedRatio(processor[1], processor[0]));
  }
}

void MeasureCarriers(const Dataset& dataset, const Effort& effort, Job& job) {
  const std::pair<const char*, std::optional<uint64_t>> carriers[] = {
      {"no index", std::nullopt},
      {"properties", UINT64_MAX},
      {"sidecars", SkipIndexOptions().max_property_bytes}};
  const TempDir dir(job.db_dir);
  std::vector<std::unique_ptr<Carrier>> databases;
  for (const auto& [name, max_property_bytes] : carriers) {
    job.progress.Show(fmt::format("{} rows, {}: at rest", dataset.name, name));
    databases.push_back(
        std::make_unique<Carrier>(dataset, name, dir.path() / name, max_property_bytes));
  }
  const uint64_t seed = job.options.seed;
  const Predicate where = DrawQueries(dataset, 0, dataset.Values(false), 1, seed).front().predicate;
  InTurns(effort.lookup_rounds, databases.size(), [&](size_t i, unsigned round) {
    job.progress.Show(fmt::format("{} rows, lookups beside scans, round {} of {}", dataset.name,
                                  round + 1, effort.lookup_rounds));
    databases[i]->Scan(where);
    databases[i]->LookUp(AbsentKeys(dataset, effort.lookups, seed + round));
  });
  for (const auto& database : databases) database->AddTo(job.results, *databases.front());
}

}  // namespace blocksieve::bench::skip
