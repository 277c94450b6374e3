// filters: build and probe times of single filters, and the physical limits. See kManual.

#include <fmt/format.h>
#include <malloc.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/support/job.h"
#include "bench/support/keys.h"
#include "blocksieve/filter.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "lib/base/kernels.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/hash_inline.h"

namespace blocksieve::bench {
namespace {

const JobManual kManual = {
    .benchmark = "filters",
    .description =
        R"(Measures build and probe times of single filters, stock and blocksieve's, and the physical limits, at
10,000, a million and ten million keys; and isolated probes of many cold filters.)",
    .quick_help = "fewer and shorter measurements, up to a million keys: within a minute",
};

struct Effort {
  std::vector<uint64_t> keys = {10'000, 1'000'000, 10'000'000};
  unsigned turns = 7;
  double seconds = 0.5;  ///< Of each turn.
};

constexpr uint64_t kProbesPerCall = 4096;
constexpr uint64_t kFprProbes = 2'000'000;
constexpr size_t kBatch = 32;  // the most keys that MultiGet probes at once

// As in a server: 64 MiB of Bloom filters of files or large partitions.
constexpr uint64_t kColdFilters = 715;
constexpr uint64_t kColdKeys = 75'000;

rocksdb::Slice AsSlice(const Key16& key) { return {key.view().data(), key.view().size()}; }

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
  for (uint64_t i = 0; i < num_keys; ++i) builder->AddKey(AsSlice(Key16(i)));
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
    positives += filter.reader->MayMatch(AsSlice(Key16(kFirstAbsent + i)));
  }
  return Ratio(positives, num_probes);
}

// RocksDB's filters of 10 (Bloom-equivalent) bits per key, and blocksieve's at that Bloom's FPR.
std::vector<PolicyContestant> MakeContestants() {
  constexpr double kStockBits = 10;
  const PolicyContestant stock{"stock bloom", Policy(rocksdb::NewBloomFilterPolicy(kStockBits))};
  const double fpr = MeasureFpr(Build(stock, 1'000'000), 20'000'000);
  return {
      stock,
      {"stock ribbon", Policy(rocksdb::NewRibbonFilterPolicy(kStockBits, -1))},
      {"blocksieve bloom", *NewFilterPolicy({.target_fpr = fpr, .kind = PolicyKind::kBloom})},
      {"blocksieve ribbon", *NewFilterPolicy({.target_fpr = fpr, .kind = PolicyKind::kRibbon})}};
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
  malloc_trim(0);  // or the child would use memory that this process has freed
  return InOwnProcess("building a filter", [&] {
    const uint64_t before = ResidentBytes();
    const BuiltFilter filter = Build(contestant, num_keys);
    return Ratio(PeakResidentBytes() - before - filter.contents.size(), num_keys);
  });
}

double ProbeAbsent(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  return TimeProbes(seconds,
                    [&](uint64_t n) { return filter.reader->MayMatch(AsSlice(Key16(n))); });
}

double ProbePresent(const PolicyContestant& contestant, uint64_t num_keys, double seconds) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  uint64_t denied = 0;
  const double nanoseconds = TimeProbes(seconds, [&](uint64_t n) {
    const auto product = static_cast<unsigned __int128>(Mix(n)) * num_keys;
    const bool may_match =
        filter.reader->MayMatch(AsSlice(Key16(static_cast<uint64_t>(product >> 64))));
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
    const bool may_match = filters[Mix(n) % kColdFilters].reader->MayMatch(AsSlice(Key16(n)));
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
    slices[i] = AsSlice(keys[i]);
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

// The raw probes and their limit get prepared hashes, a block at a time.
template <class Answer>
double ProbeHashes(double seconds, Answer answer) {
  constexpr size_t kBlock = 256;
  std::array<uint64_t, kBlock> hashes;
  std::array<bool, kBlock> may_match;
  return TimePerKey(seconds, kProbesPerCall, [&] {
    const uint64_t first = NextNumbers(kProbesPerCall);
    for (uint64_t i = 0; i < kProbesPerCall; i += kBlock) {
      for (size_t j = 0; j < kBlock; ++j) hashes[j] = Mix(first + i + j);
      answer(hashes, may_match.data());
      Use(may_match);
    }
  });
}

double ProbeRaw(const PolicyContestant& contestant, Kernel kernel, uint64_t num_keys,
                double seconds) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  const Filter reader =
      internal::FilterAccess::Open(AsBytes({contents.data(), contents.size()}), kernel);
  return ProbeHashes(seconds, [&](const auto& hashes, bool* may_match) {
    reader.MayContainHashes(hashes, may_match);
  });
}

// 64-byte lines, 10 bits per key in total. A probe reads one bit: no filter can be faster.
struct LineTable {
  struct alignas(64) Line {
    uint64_t words[8];
  };

  explicit LineTable(uint64_t num_keys) : lines(num_keys * 10 / 512 + 1) {}
  bool Bit(uint64_t hash) const {
    const auto product = static_cast<unsigned __int128>(hash) * lines.size();
    const Line& line = lines[static_cast<size_t>(product >> 64)];
    return (line.words[hash >> 6 & 7] >> (hash & 63) & 1) != 0;
  }

  std::vector<Line> lines;
};

double LimitOneLine(uint64_t num_keys, double seconds) {
  const LineTable table(num_keys);
  return ProbeHashes(seconds, [&](const auto& hashes, bool* may_match) {
    for (size_t j = 0; j < hashes.size(); ++j) may_match[j] = table.Bit(hashes[j]);
  });
}

double LimitHashAndLine(uint64_t num_keys, double seconds) {
  const LineTable table(num_keys);
  return TimeProbes(seconds,
                    [&](uint64_t n) { return table.Bit(HashShortKey(Key16(n).view(), 0)); });
}

// Times one operation of one filter.
struct Timing {
  std::string what;
  std::string who;
  uint64_t keys = 0;
  std::function<double(uint64_t keys, double seconds)> measure;
  std::vector<double> nanoseconds = {};  // per key, by turn
};

// `contestants` must outlive the result.
std::vector<Timing> MakeTimings(const std::vector<PolicyContestant>& contestants,
                                const std::vector<uint64_t>& sizes) {
  std::vector<Timing> timings;
  const auto add = [&](const char* what, const PolicyContestant& contestant, uint64_t keys,
                       auto measure) {
    timings.push_back({what, contestant.name, keys, [measure, &contestant](uint64_t n, double s) {
                         return measure(contestant, n, s);
                       }});
  };
  for (const PolicyContestant& each : contestants) add("cold", each, kColdKeys, ProbeCold);
  for (const uint64_t n : sizes) {
    for (const PolicyContestant& each : contestants) {
      add("build", each, n, BuildFilter);
      add("open", each, n, OpenFilter);
      add("absent", each, n, ProbeAbsent);
      add("present", each, n, ProbePresent);
      add("batch32", each, n, ProbeBatch);
      if (!each.name.starts_with("blocksieve")) continue;
      for (const Kernel kernel : internal::AvailableKernels()) {
        timings.push_back({"raw", fmt::format("{} {}", each.name, KernelName(kernel)), n,
                           [&each, kernel](uint64_t keys, double seconds) {
                             return ProbeRaw(each, kernel, keys, seconds);
                           }});
      }
    }
    timings.push_back({"raw", "limit line", n, LimitOneLine});
    timings.push_back({"absent", "limit hash line", n, LimitHashAndLine});
  }
  std::sort(timings.begin(), timings.end(), [](const Timing& a, const Timing& b) {
    return std::tie(a.what, a.who, a.keys) < std::tie(b.what, b.who, b.keys);
  });
  return timings;
}

// A ratio of the times of one operation.
struct TimeRatio {
  const char* title;
  const char* what;
  const char* above;
  const char* below;
};

constexpr TimeRatio kRatios[] = {
    {"absent key, relative to stock Bloom 10", "absent", "blocksieve bloom", "stock bloom"},
    {"present key, relative to stock Bloom 10", "present", "blocksieve bloom", "stock bloom"},
    {"batch of 32, relative to stock Bloom 10", "batch32", "blocksieve bloom", "stock bloom"},
    {"build, relative to stock Bloom 10", "build", "blocksieve bloom", "stock bloom"},
    {"absent key, relative to hash + one line", "absent", "blocksieve bloom", "limit hash line"},
    {"raw probe AVX-512, relative to one line", "raw", "blocksieve bloom avx512", "limit line"},
    {"raw probe AVX2, relative to one line", "raw", "blocksieve bloom avx2", "limit line"},
    {"raw probe scalar, relative to one line", "raw", "blocksieve bloom scalar", "limit line"},
    {"ribbon: absent, relative to stock Bloom 10", "absent", "blocksieve ribbon", "stock bloom"},
    {"ribbon: absent, relative to stock Ribbon", "absent", "blocksieve ribbon", "stock ribbon"},
    {"ribbon: batch of 32, relative to stock Bloom 10", "batch32", "blocksieve ribbon",
     "stock bloom"},
    {"ribbon: build, relative to stock Ribbon", "build", "blocksieve ribbon", "stock ribbon"},
    {"ribbon: raw AVX-512, relative to one line", "raw", "blocksieve ribbon avx512", "limit line"},
    {"ribbon: raw AVX2, relative to AVX-512", "raw", "blocksieve ribbon avx2",
     "blocksieve ribbon avx512"},
    {"cold, relative to stock Bloom 10", "cold", "blocksieve bloom", "stock bloom"},
    {"ribbon: cold, relative to stock Bloom 10", "cold", "blocksieve ribbon", "stock bloom"},
    {"ribbon: cold, relative to stock Ribbon", "cold", "blocksieve ribbon", "stock ribbon"},
};

// Ratios where both sides were measured: not every machine has every kernel.
void AddRatios(const std::vector<Timing>& timings, Results& results) {
  for (const TimeRatio& ratio : kRatios) {
    for (const Timing& mine : timings) {
      if (mine.what != ratio.what || mine.who != ratio.above) continue;
      const auto other = std::find_if(timings.begin(), timings.end(), [&](const Timing& each) {
        return each.what == ratio.what && each.who == ratio.below && each.keys == mine.keys;
      });
      if (other == timings.end()) continue;
      results.Of(ratio.title, {{"keys", mine.keys}})
          .Add("ratio", "x", PairedRatio(mine.nanoseconds, other->nanoseconds))
          .Add("times as fast", "x", PairedRatio(other->nanoseconds, mine.nanoseconds));
    }
  }
}

void Measure(Job& job) {
  const Effort quick = {.keys = {10'000, 1'000'000}, .turns = 3, .seconds = 0.05};
  const Effort effort = job.options.quick ? quick : Effort{};
  job.progress.Show("the FPR of stock Bloom");
  const std::vector<PolicyContestant> contestants = MakeContestants();
  std::vector<Timing> timings = MakeTimings(contestants, effort.keys);
  InTurns(effort.turns, timings.size(), [&](size_t i, unsigned turn) {
    Timing& timing = timings[i];
    job.progress.Show(fmt::format("turn {} of {}: {}, {}, {} keys", turn + 1, effort.turns,
                                  timing.what, timing.who, timing.keys));
    timing.nanoseconds.push_back(timing.measure(timing.keys, effort.seconds));
  });
  // Targets depend on whether the stock filters were compiled for the whole processor.
  const bool is_portable = DescribeRocksDb().find("without AVX2") != std::string::npos;
  job.results.SetFact("stock", is_portable ? "portable" : "native");
  for (const Timing& each : timings) {
    job.results.Of(each.who, {{"what", each.what}, {"keys", each.keys}})
        .AddTurns("time", each.what == "open" ? "ns" : "ns per key", each.nanoseconds);
  }
  for (const PolicyContestant& each : contestants) {
    for (const uint64_t keys : effort.keys) {
      const BuiltFilter& filter = Cached(each, keys);
      job.results.Of(each.name, {{"what", "absent"}, {"keys", keys}})
          .Add("bits per key", "bits", Ratio(8 * filter.contents.size(), keys))
          .Add("bytes of an open filter", "bytes", MeasureOpenBytes(each, keys))
          .Add("FPR", "share", MeasureFpr(filter, kFprProbes));
      if (keys < 1'000'000) continue;  // the process itself takes more than the filter
      job.results.Of(each.name, {{"what", "build"}, {"keys", keys}})
          .Add("bytes per key to build", "bytes", MeasureBuildBytes(each, keys));
    }
  }
  AddRatios(timings, job.results);
}

}  // namespace
}  // namespace blocksieve::bench

int main(int argc, char** argv) {
  return blocksieve::bench::RunJob(blocksieve::bench::kManual, argc, argv,
                                   blocksieve::bench::Measure);
}
