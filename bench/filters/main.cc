// SPDX-License-Identifier: Apache-2.0
// filters: times and sizes of single filters. See kManual.

#include <malloc.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "bench/filters/filters.h"
#include "bench/support/database.h"
#include "bench/support/keys.h"
#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench::filters {
namespace {

const JobManual kManual = {
    .benchmark = "filters",
    .description =
        R"(Measures single filters, stock and blocksieve's: times to build and probe them and the memory that
this takes, at 10,000, a million and ten million keys; isolated probes of many cold filters; sizes
above the lower bound of all filters; and filters of 300 million keys, probed for each of them.)",
    .quick_help = "fewer and shorter measurements, up to a million keys: within a minute",
};

struct Effort {
  std::vector<uint64_t> keys = {10'000, 1'000'000, 10'000'000};
  unsigned turns = 7;
  double seconds = 0.5;  ///< Of each turn.
};

constexpr uint64_t kProbesPerCall = 4096;
constexpr uint64_t kFprProbes = 2'000'000;
constexpr uint64_t kPartitionedKeys = 3'000'000;
constexpr size_t kBatch = 32;  // the most keys that MultiGet probes at once

// As in a server: 64 MiB of Bloom filters of files or large partitions.
constexpr uint64_t kColdFilters = 715;
constexpr uint64_t kColdKeys = 75'000;

constexpr const char* kStockBloom = "stock bloom";
constexpr const char* kStockRibbon = "stock ribbon";
constexpr const char* kOurBloom = "blocksieve bloom";
constexpr const char* kOurRibbon = "blocksieve ribbon";

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

// A filter policy, measured through the interface by which RocksDB builds and probes filters.
struct PolicyContestant {
  std::string name;
  Policy policy;
};

// A finished filter over the keys 0 ... num_keys - 1, and its reader.
struct BuiltFilter {
  std::unique_ptr<const char[]> memory;
  rocksdb::Slice contents;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
};

// Adds the keys and finishes the filter: exactly what is timed as "build".
BuiltFilter Build(const PolicyContestant& contestant, uint64_t num_keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;  // the default differs by version
  const rocksdb::FilterBuildingContext context(table_options);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      contestant.policy->GetBuilderWithContext(context));
  for (uint64_t i = 0; i < num_keys; ++i) builder->AddKey(Key16(i).view());
  BuiltFilter filter;
  rocksdb::Status status;
  filter.contents = builder->Finish(&filter.memory, &status);
  filter.reader.reset(contestant.policy->GetFilterBitsReader(filter.contents));
  return filter;
}

// The same, built once and cached.
const BuiltFilter& Cached(const PolicyContestant& contestant, uint64_t num_keys) {
  static std::map<std::pair<std::string, uint64_t>, BuiltFilter> filters;
  const auto [at, is_new] = filters.try_emplace({contestant.name, num_keys});
  if (is_new) at->second = Build(contestant, num_keys);
  return at->second;
}

double MeasureFpr(const BuiltFilter& filter, uint64_t num_probes) {
  uint64_t positives = 0;
  for (uint64_t i = 0; i < num_probes; ++i) {
    positives += filter.reader->MayMatch(Key16(kFirstAbsent + i).view());
  }
  return Ratio(positives, num_probes);
}

Policy NewPolicy(const EnableOptions& options) {
  Policy policy;
  CheckOk(NewFilterPolicy(options, &policy), "filter policy");
  return policy;
}

// RocksDB's filters of 10 (Bloom-equivalent) bits per key, and blocksieve's at that Bloom's FPR.
std::vector<PolicyContestant> MakeContestants() {
  constexpr double kStockBits = 10;
  const PolicyContestant stock{kStockBloom, Policy(rocksdb::NewBloomFilterPolicy(kStockBits))};
  const double fpr = MeasureFpr(Build(stock, 1'000'000), 20'000'000);
  return {stock,
          {kStockRibbon, Policy(rocksdb::NewRibbonFilterPolicy(kStockBits, -1))},
          {kOurBloom, NewPolicy({.target_fpr = fpr, .kind = FilterKind::kBlockedBloom})},
          {kOurRibbon, NewPolicy({.target_fpr = fpr, .kind = FilterKind::kRibbon})}};
}

// No two probes of a process have the same key, so that no predictor or cache learns them.
uint64_t NextNumbers(uint64_t count) {
  static uint64_t next = kFirstAbsent;
  return std::exchange(next, next + count);
}

// Keeps the compiler from removing what computes `value`.
template <class T>
void Use(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

// Nanoseconds of processor time per key. Calls `work`, which handles this many keys, for `seconds`.
template <class Work>
double TimePerKey(double seconds, uint64_t keys_per_call, Work work) {
  const Stopwatch stopwatch;
  uint64_t keys = 0;
  do {
    work();
    keys += keys_per_call;
  } while (stopwatch.Seconds() < seconds);
  return 1e9 * Ratio(stopwatch.CpuSeconds(), keys);
}

// Calls `probe(number)` for absent numbers, each of which has its own.
template <class Probe>
double TimeProbes(double seconds, Probe probe) {
  return TimePerKey(seconds, kProbesPerCall, [&] {
    const uint64_t first = NextNumbers(kProbesPerCall);
    uint64_t positives = 0;
    for (uint64_t i = 0; i < kProbesPerCall; ++i) positives += probe(first + i);
    Use(positives);
  });
}

double BuildFilter(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  return TimePerKey(seconds, num_keys, [&] { Use(Build(contestant, num_keys)); });
}

double OpenFilter(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
  return TimePerKey(seconds, kProbesPerCall, [&] {
    for (uint64_t i = 0; i < kProbesPerCall; ++i) {
      reader.reset(contestant.policy->GetFilterBitsReader(contents));
    }
  });
}

// Heap memory of an open filter, in bytes, without its block.
double MeasureOpenBytes(const PolicyContestant& contestant, uint64_t num_keys) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  std::array<std::unique_ptr<rocksdb::FilterBitsReader>, 1000> readers;
  const size_t before = mallinfo2().uordblks;
  for (auto& reader : readers) reader.reset(contestant.policy->GetFilterBitsReader(contents));
  return Ratio(mallinfo2().uordblks - before, readers.size());
}

// Peak memory per key while building, in bytes, without the finished filter.
double MeasureBuildBytes(const PolicyContestant& contestant, uint64_t num_keys) {
  BuiltFilter filter;
  const double peak = PeakBytesOf([&] { filter = Build(contestant, num_keys); });
  return (peak - static_cast<double>(filter.contents.size())) / static_cast<double>(num_keys);
}

double ProbeAbsent(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  return TimeProbes(seconds, [&](uint64_t n) { return filter.reader->MayMatch(Key16(n).view()); });
}

double ProbePresent(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  uint64_t denied = 0;
  const double nanoseconds = TimeProbes(seconds, [&](uint64_t n) {
    const auto product = static_cast<unsigned __int128>(Mix(n)) * num_keys;
    const bool may_match =
        filter.reader->MayMatch(Key16(static_cast<uint64_t>(product >> 64)).view());
    denied += !may_match;
    return may_match;
  });
  if (denied > 0) Fail("{} denies {} keys that it has", contestant.name, denied);
  return nanoseconds;
}

// One probe at a time, in one of many filters.
double ProbeCold(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  std::vector<BuiltFilter> filters(kColdFilters);
  for (BuiltFilter& filter : filters) {
    auto copy = std::make_unique<char[]>(contents.size());
    std::memcpy(copy.get(), contents.data(), contents.size());
    filter.contents = {copy.get(), contents.size()};
    filter.memory = std::move(copy);
    filter.reader.reset(contestant.policy->GetFilterBitsReader(filter.contents));
  }
  return TimeProbes(seconds, [&](uint64_t n) {
    const bool may_match = filters[Mix(n) % kColdFilters].reader->MayMatch(Key16(n).view());
    WaitForLoads();
    return may_match;
  });
}

double ProbeBatch(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  std::vector<Key16> keys(kBatch, Key16(0));
  std::vector<rocksdb::Slice> slices(kBatch);
  std::vector<rocksdb::Slice*> pointers(kBatch);
  for (size_t i = 0; i < kBatch; ++i) {
    slices[i] = keys[i].view();
    pointers[i] = &slices[i];
  }
  std::array<bool, kBatch> may_match;
  return TimePerKey(seconds, kProbesPerCall, [&] {
    const uint64_t first = NextNumbers(kProbesPerCall);
    for (uint64_t i = 0; i < kProbesPerCall; i += kBatch) {
      for (size_t j = 0; j < kBatch; ++j) keys[j] = Key16(first + i + j);
      filter.reader->MayMatch(static_cast<int>(kBatch), pointers.data(), may_match.data());
      Use(may_match);
    }
  });
}

// Heap memory of a new file's partitions of 4 KiB, all loaded, that the block cache is not charged,
// in bytes. `policy`: null for no filter.
double MeasureUncharged(const Policy& policy, const std::string& path) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy;
  table.partition_filters = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.metadata_block_size = 4096;
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 30, /*num_shard_bits=*/0);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  CheckOk(writer.Open(path), path);
  for (uint64_t i = 0; i < kPartitionedKeys; ++i) {
    CheckOk(writer.Put(fmt::format("{:016}", i), ""), path);
  }
  CheckOk(writer.Finish(), path);
  rocksdb::SstFileReader reader(options);
  const size_t charged = table.block_cache->GetUsage();
  const size_t before = mallinfo2().uordblks;
  CheckOk(reader.Open(path), path);
  return static_cast<double>(mallinfo2().uordblks - before) -
         static_cast<double>(table.block_cache->GetUsage() - charged);
}

// Ratios of the times of one operation. Targets are those at a million keys: with a Debian RocksDB,
// whose filters do not use AVX2, and with one compiled for the whole processor.
struct TimeRatio {
  const char* what;
  const char* above;
  const char* below;
  double portable;
  double native;
};

constexpr double kNoTarget = std::numeric_limits<double>::infinity();
constexpr TimeRatio kRatios[] = {
    {"absent", kOurBloom, kStockBloom, 0.40, 0.75},
    {"absent", kOurRibbon, kStockBloom, 0.55, 1.1},
    {"absent", kOurRibbon, kStockRibbon, kNoTarget, kNoTarget},
    {"present", kOurBloom, kStockBloom, kNoTarget, kNoTarget},
    {"batch32", kOurBloom, kStockBloom, 0.50, 0.60},
    {"batch32", kOurRibbon, kStockBloom, 0.55, 0.80},
    {"build", kOurBloom, kStockBloom, 0.60, 0.40},
    {"build", kOurRibbon, kStockBloom, kNoTarget, kNoTarget},
    {"build", kOurRibbon, kStockRibbon, 0.40, 0.16},
    {"cold", kOurBloom, kStockBloom, 1, 1},
    {"cold", kOurRibbon, kStockBloom, 1, 1},
    {"cold", kOurRibbon, kStockRibbon, kNoTarget, kNoTarget},
};

// Times one operation of all filters.
struct Operation {
  const char* what;
  double (*measure)(const PolicyContestant& contestant, uint64_t num_keys, double seconds);
};

constexpr Operation kOperations[] = {{"build", BuildFilter},
                                     {"open", OpenFilter},
                                     {"absent", ProbeAbsent},
                                     {"present", ProbePresent},
                                     {"batch32", ProbeBatch}};

struct Timing {
  Operation operation;
  const PolicyContestant* contestant;
  uint64_t keys;
  std::vector<double> nanoseconds = {};  // per key, by turn
};

void AddRatios(const std::vector<Timing>& timings, Results& results) {
  const bool is_portable = DescribeRocksDb().find("without AVX2") != std::string::npos;
  for (const TimeRatio& ratio : kRatios) {
    const auto is_of = [&](const Timing& each, const char* name) {
      return std::string_view(each.operation.what) == ratio.what && each.contestant->name == name;
    };
    for (const Timing& mine : timings) {
      if (!is_of(mine, ratio.above)) continue;
      const Timing& other = *std::find_if(timings.begin(), timings.end(), [&](const Timing& each) {
        return is_of(each, ratio.below) && each.keys == mine.keys;
      });
      const bool has_target = mine.keys == 1'000'000 || mine.keys == kColdKeys;
      const Spread figure = PairedRatio(mine.nanoseconds, other.nanoseconds);
      const std::string name =
          fmt::format("{}: {}, relative to {}", ratio.what, ratio.above, ratio.below);
      const double limit = is_portable ? ratio.portable : ratio.native;
      results.In("Ratios of times", "Operation")[name].Add(
          NumKeys(mine.keys), "x", figure,
          has_target && limit != kNoTarget ? NotAbove(limit) : Target{});
      if (&ratio != kRatios || !has_target) continue;
      results.headline = fmt::format(
          "A probe for an absent key takes {} {:.1f} ns, {:.2f} times the {:.1f} ns of stock "
          "Bloom; {}, the same false-positive rate.",
          ratio.above, SpreadOf(mine.nanoseconds).median, figure.median,
          SpreadOf(other.nanoseconds).median, NumKeys(mine.keys));
    }
  }
}

void AddSizes(const PolicyContestant& contestant, uint64_t num_keys, Results& results) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  const auto add = [&](const char* table, const char* unit, double figure) {
    results.In(table, "Filter")[contestant.name].Add(NumKeys(num_keys), unit, figure);
  };
  add("Bits per key", "bits", Ratio(8 * filter.contents.size(), num_keys));
  add("FPR", "share", MeasureFpr(filter, kFprProbes));
  add("Bytes of an open filter", "bytes", MeasureOpenBytes(contestant, num_keys));
  if (num_keys < 1'000'000) return;  // the process itself takes more than the filter
  add("Bytes per key to build", "", MeasureBuildBytes(contestant, num_keys));
}

void Measure(Job& job) {
  const Effort quick = {.keys = {10'000, 1'000'000}, .turns = 3, .seconds = 0.05};
  const Effort effort = job.options.quick ? quick : Effort{};
  job.progress.Show("the FPR of stock Bloom");
  const std::vector<PolicyContestant> contestants = MakeContestants();
  std::vector<Timing> timings;
  for (const PolicyContestant& each : contestants) {
    timings.push_back({{"cold", ProbeCold}, &each, kColdKeys});
    for (const uint64_t keys : effort.keys) {
      for (const Operation& operation : kOperations) timings.push_back({operation, &each, keys});
    }
  }
  // Contestants alternate in each operation.
  std::stable_sort(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) {
    return std::pair(std::string_view(a.operation.what), a.keys) <
           std::pair(std::string_view(b.operation.what), b.keys);
  });
  InTurns(effort.turns, timings.size(), [&](size_t i, unsigned turn) {
    Timing& timing = timings[i];
    job.progress.Show(fmt::format("turn {} of {}: {}, {}, {}", turn + 1, effort.turns,
                                  timing.operation.what, timing.contestant->name,
                                  NumKeys(timing.keys)));
    timing.nanoseconds.push_back(
        timing.operation.measure(*timing.contestant, timing.keys, effort.seconds));
  });
  Results& results = job.results;
  results.title = "Single filters";
  results.lead =
      "Build and probe times of single filters of 16-byte keys, through the interface that RocksDB "
      "uses. Stock: RocksDB's own filters of 10 bits per key. blocksieve's filters have the "
      "false-positive rate (FPR) measured for stock Bloom. batch32: 32 keys in one call. cold: one "
      "probe at a time, each in one of 715 filters of 75,000 keys, as in a server; all others "
      "probe one filter in a loop, where the processor overlaps probes.";
  AddRatios(timings, results);
  for (const Timing& each : timings) {
    results
        .In("Time per key, or opened filter, ns",
            "Operation, filter")[fmt::format("{}, {}", each.operation.what, each.contestant->name)]
        .Add(NumKeys(each.keys), "ns", each.nanoseconds);
  }
  const TempDir dir(job.db_dir);
  const std::string path = dir.path() / "partitions.sst";
  const double without = MeasureUncharged(nullptr, path);
  for (const PolicyContestant& each : contestants) {
    for (const uint64_t keys : effort.keys) AddSizes(each, keys, results);
    results.In("Heap of partitions of 4 KiB that no cache is charged", "Filter")[each.name].Add(
        NumKeys(kPartitionedKeys), "bytes", MeasureUncharged(each.policy, path) - without);
  }
  MeasureSizes(job);
}

}  // namespace
}  // namespace blocksieve::bench::filters

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  return RunJob(filters::kManual, argc, argv, filters::Measure);
}
