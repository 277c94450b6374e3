// Build and probe times of filters, and the physical limits, at 10 k, 1 M and 10 M keys.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/filter_bench/contestants.h"
#include "bench/filter_bench/keys.h"
#include "bench/support/results.h"
#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/hash_inline.h"

namespace blocksieve::bench {
namespace {

// Keys of the filters that are measured.
constexpr uint64_t kSizes[] = {10'000, 1'000'000, 10'000'000};

constexpr uint64_t kProbesPerIteration = 4096;
constexpr uint64_t kFprProbes = 2'000'000;
constexpr size_t kBatch = 32;  // the most keys that MultiGet probes at once

// As in a server: 64 MiB of Bloom filters of files or large partitions.
constexpr uint64_t kColdFilters = 715;
constexpr uint64_t kColdKeys = 75'000;

rocksdb::Slice AsSlice(const Key16& key) { return {key.view().data(), key.view().size()}; }

// No two probes of a process have the same key, so that no predictor or cache learns them.
uint64_t NextNumbers(uint64_t count) {
  static uint64_t next = kFirstAbsent;
  return std::exchange(next, next + count);
}

void CountPerKey(benchmark::State& state, uint64_t keys_per_iteration) {
  const auto keys =
      static_cast<double>(keys_per_iteration) * static_cast<double>(state.iterations());
  state.counters["ns_per_key"] =
      benchmark::Counter(keys / 1e9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Times `answer(number)`, and returns how often it was true.
template <class Answer>
uint64_t ProbeNumbers(benchmark::State& state, Answer answer) {
  uint64_t positives = 0;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; ++i) positives += answer(first + i);
  }
  benchmark::DoNotOptimize(positives);
  CountPerKey(state, kProbesPerIteration);
  return positives;
}

void BuildFilter(benchmark::State& state, const PolicyContestant& contestant, uint64_t num_keys) {
  for (auto _ : state) benchmark::DoNotOptimize(Build(contestant, num_keys));
  CountPerKey(state, num_keys);
}

void ProbeAbsent(benchmark::State& state, const PolicyContestant& contestant, uint64_t num_keys) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  ProbeNumbers(state, [&](uint64_t n) { return filter.reader->MayMatch(AsSlice(Key16(n))); });
  state.counters["bits_per_key"] = Ratio(8 * filter.contents.size(), num_keys);
  state.counters["fpr"] = MeasureFpr(filter, kFprProbes);
}

void ProbePresent(benchmark::State& state, const PolicyContestant& contestant, uint64_t num_keys) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  const uint64_t positives = ProbeNumbers(state, [&](uint64_t n) {
    const auto product = static_cast<unsigned __int128>(Mix(n)) * num_keys;
    return filter.reader->MayMatch(AsSlice(Key16(static_cast<uint64_t>(product >> 64))));
  });
  const uint64_t probes = static_cast<uint64_t>(state.iterations()) * kProbesPerIteration;
  if (positives != probes) {
    Fail("{} denies {} keys that it has", contestant.name, probes - positives);
  }
}

// Waits for the loads so far. Otherwise a processor that predicts an answer begins the next probe
// early, and filters whose answer is a branch overlap cache misses, but others do not: 86 and 320
// ns were measured for the same misses.
void WaitForLoads() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// One probe at a time, in one of many filters.
void ProbeCold(benchmark::State& state, const PolicyContestant& contestant) {
  const rocksdb::Slice contents = Cached(contestant, kColdKeys).contents;
  std::vector<BuiltFilter> filters(kColdFilters);
  for (BuiltFilter& filter : filters) {
    auto copy = std::make_unique<char[]>(contents.size());
    std::memcpy(copy.get(), contents.data(), contents.size());
    filter.contents = {copy.get(), contents.size()};
    filter.memory = std::move(copy);
    filter.reader.reset(contestant.policy->GetFilterBitsReader(filter.contents));
  }
  uint64_t positives = 0;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = first; i < first + kProbesPerIteration; ++i) {
      positives += filters[Mix(i) % kColdFilters].reader->MayMatch(AsSlice(Key16(i)));
      WaitForLoads();
    }
  }
  benchmark::DoNotOptimize(positives);
  CountPerKey(state, kProbesPerIteration);
}

void ProbeBatch(benchmark::State& state, const PolicyContestant& contestant, uint64_t num_keys) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  std::vector<Key16> keys(kBatch, Key16(0));
  std::vector<rocksdb::Slice> slices(kBatch);
  std::vector<rocksdb::Slice*> pointers(kBatch);
  for (size_t i = 0; i < kBatch; ++i) {
    slices[i] = AsSlice(keys[i]);
    pointers[i] = &slices[i];
  }
  std::array<bool, kBatch> may_match;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; i += kBatch) {
      for (size_t j = 0; j < kBatch; ++j) keys[j] = Key16(first + i + j);
      filter.reader->MayMatch(static_cast<int>(kBatch), pointers.data(), may_match.data());
      benchmark::ClobberMemory();
    }
  }
  CountPerKey(state, kProbesPerIteration);
}

// The raw probes and their limit get prepared hashes, a block at a time.
template <class Answer>
void ProbeHashes(benchmark::State& state, Answer answer) {
  constexpr size_t kBlock = 256;
  std::array<uint64_t, kBlock> hashes;
  std::array<bool, kBlock> may_match;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; i += kBlock) {
      for (size_t j = 0; j < kBlock; ++j) hashes[j] = Mix(first + i + j);
      answer(hashes, may_match.data());
      benchmark::DoNotOptimize(may_match);
    }
  }
  CountPerKey(state, kProbesPerIteration);
}

void ProbeRaw(benchmark::State& state, const PolicyContestant& contestant, Kernel kernel,
              uint64_t num_keys) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  const Filter reader =
      internal::FilterAccess::Open(AsBytes({contents.data(), contents.size()}), kernel);
  ProbeHashes(state, [&](const auto& hashes, bool* may_match) {
    reader.MayContainHashes(hashes, may_match);
  });
}

// 64-byte lines, 10 bits per key in total. A probe reads one bit: no filter can be faster.
struct LineTable {
  explicit LineTable(uint64_t num_keys)
      : num_lines(num_keys * 10 / 512 + 1), memory(num_lines * 64 + 64, 1) {
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    lines = memory.data() + (64 - address % 64) % 64;
  }
  bool Bit(uint64_t hash) const {
    const uint64_t line =
        static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_lines) >> 64);
    uint64_t word;
    std::memcpy(&word, lines + 64 * line + (hash >> 3 & 56), sizeof(word));
    return (word >> (hash & 63) & 1) != 0;
  }

  uint64_t num_lines;
  std::vector<uint8_t> memory;
  const uint8_t* lines;
};

void LimitOneLine(benchmark::State& state, uint64_t num_keys) {
  const LineTable table(num_keys);
  ProbeHashes(state, [&](const auto& hashes, bool* may_match) {
    for (size_t j = 0; j < hashes.size(); ++j) may_match[j] = table.Bit(hashes[j]);
  });
}

void LimitHashAndLine(benchmark::State& state, uint64_t num_keys) {
  const LineTable table(num_keys);
  ProbeNumbers(state, [&](uint64_t n) { return table.Bit(HashShortKey(Key16(n).view(), 0)); });
}

// `what_and_who` is such as "absent/stock_bloom".
std::string Name(const std::string& what_and_who, uint64_t num_keys) {
  return what_and_who + "/" + std::to_string(num_keys);
}

// Build, absent, present and batch benchmarks of contestants, raw probes with kernels, and limits.
void RegisterBenchmarks() {
  using benchmark::RegisterBenchmark;
  for (const PolicyContestant& c : Contestants()) {
    RegisterBenchmark(Name("cold/" + c.name, kColdKeys).c_str(), ProbeCold, c);
  }
  for (const uint64_t n : kSizes) {
    for (const PolicyContestant& c : Contestants()) {
      RegisterBenchmark(Name("build/" + c.name, n).c_str(), BuildFilter, c, n);
      RegisterBenchmark(Name("absent/" + c.name, n).c_str(), ProbeAbsent, c, n);
      RegisterBenchmark(Name("present/" + c.name, n).c_str(), ProbePresent, c, n);
      RegisterBenchmark(Name("batch32/" + c.name, n).c_str(), ProbeBatch, c, n);
      if (!c.name.starts_with("blocksieve")) continue;
      for (const Kernel kernel : internal::AvailableKernels()) {
        RegisterBenchmark(Name(fmt::format("raw/{}_{}", c.name, KernelName(kernel)), n).c_str(),
                          ProbeRaw, c, kernel, n);
      }
    }
    RegisterBenchmark(Name("raw/limit_line", n).c_str(), LimitOneLine, n);
    RegisterBenchmark(Name("absent/limit_hash_line", n).c_str(), LimitHashAndLine, n);
  }
}

// A ratio of the times of two benchmarks.
struct TimeRatio {
  const char* title;
  const char* above;
  const char* below;
};

constexpr TimeRatio kRatios[] = {
    {"absent key, relative to stock Bloom 10", "absent/blocksieve_bloom", "absent/stock_bloom"},
    {"present key, relative to stock Bloom 10", "present/blocksieve_bloom", "present/stock_bloom"},
    {"batch of 32, relative to stock Bloom 10", "batch32/blocksieve_bloom", "batch32/stock_bloom"},
    {"build, relative to stock Bloom 10", "build/blocksieve_bloom", "build/stock_bloom"},
    {"absent key, relative to hash + one line", "absent/blocksieve_bloom",
     "absent/limit_hash_line"},
    {"raw probe AVX-512, relative to one line", "raw/blocksieve_bloom_avx512", "raw/limit_line"},
    {"raw probe AVX2, relative to one line", "raw/blocksieve_bloom_avx2", "raw/limit_line"},
    {"raw probe scalar, relative to one line", "raw/blocksieve_bloom_scalar", "raw/limit_line"},
    {"ribbon: absent, relative to stock Bloom 10", "absent/blocksieve_ribbon",
     "absent/stock_bloom"},
    {"ribbon: absent, relative to stock Ribbon", "absent/blocksieve_ribbon", "absent/stock_ribbon"},
    {"ribbon: batch of 32, relative to stock Bloom 10", "batch32/blocksieve_ribbon",
     "batch32/stock_bloom"},
    {"ribbon: build, relative to stock Ribbon", "build/blocksieve_ribbon", "build/stock_ribbon"},
    {"ribbon: raw AVX-512, relative to one line", "raw/blocksieve_ribbon_avx512", "raw/limit_line"},
    {"ribbon: raw AVX2, relative to AVX-512", "raw/blocksieve_ribbon_avx2",
     "raw/blocksieve_ribbon_avx512"},
    {"cold, relative to stock Bloom 10", "cold/blocksieve_bloom", "cold/stock_bloom"},
    {"ribbon: cold, relative to stock Bloom 10", "cold/blocksieve_ribbon", "cold/stock_bloom"},
    {"ribbon: cold, relative to stock Ribbon", "cold/blocksieve_ribbon", "cold/stock_ribbon"},
};

// Shows aggregates on the console and keeps the result of each repetition.
class Collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> aggregates;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) {
        aggregates.push_back(run);
        continue;
      }
      const std::string& name = run.run_name.function_name;
      const auto keep = [&](const char* counter, Turns& turns) {
        const auto found = run.counters.find(counter);
        if (found != run.counters.end()) turns[name].push_back(found->second);
      };
      keep("ns_per_key", nanoseconds_);
      keep("bits_per_key", bits_per_key_);
      keep("fpr", fpr_);
    }
    ConsoleReporter::ReportRuns(aggregates);
  }

  // Times, sizes and FPRs of all benchmarks that ran, and ratios where both sides did.
  Results ToResults() const {
    Results results("filters");
    results.SetFact("seconds", stopwatch_.Seconds());
    // Targets depend on whether the stock filters were compiled for the whole processor.
    const bool is_portable = DescribeRocksDb().find("without AVX2") != std::string::npos;
    results.SetFact("stock", is_portable ? "portable" : "native");
    for (const auto& [name, turns] : nanoseconds_) AddTimes(name, results);
    for (const TimeRatio& ratio : kRatios) {
      for (const uint64_t keys : kSizes) AddRatio(ratio, keys, results);
      AddRatio(ratio, kColdKeys, results);
    }
    return results;
  }

 private:
  using Turns = std::map<std::string, std::vector<double>>;  // by name of the benchmark

  // Names are like "absent/stock_bloom/10000": operation, filter, keys.
  void AddTimes(const std::string& name, Results& results) const {
    const size_t who = name.find('/') + 1;
    const size_t keys = name.rfind('/') + 1;
    std::string title = name.substr(who, keys - 1 - who);
    std::replace(title.begin(), title.end(), '_', ' ');
    Results::Rows rows = results.Of(
        title, {{"what", name.substr(0, who - 1)}, {"keys", std::stoull(name.substr(keys))}});
    rows.AddTurns("time", "ns per key", nanoseconds_.at(name));
    if (!bits_per_key_.contains(name)) return;
    rows.Add("bits per key", "bits", SpreadOf(bits_per_key_.at(name)).median)
        .Add("FPR", "share", SpreadOf(fpr_.at(name)).median);
  }

  // Repetitions are interleaved at random, so they cannot be paired.
  void AddRatio(const TimeRatio& ratio, uint64_t keys, Results& results) const {
    const auto above = nanoseconds_.find(Name(ratio.above, keys));
    const auto below = nanoseconds_.find(Name(ratio.below, keys));
    if (above == nanoseconds_.end() || below == nanoseconds_.end()) return;
    const Spread mine = SpreadOf(above->second);
    const Spread theirs = SpreadOf(below->second);
    results.Of(ratio.title, {{"keys", keys}})
        .Add("ratio", "x", Quotient(mine, theirs))
        .Add("times as fast", "x", Quotient(theirs, mine));
  }

  Stopwatch stopwatch_;
  Turns nanoseconds_;
  Turns bits_per_key_;
  Turns fpr_;
};

// Removes "--out DIR" from the arguments; the others are Google Benchmark's.
std::string TakeOut(int& argc, char** argv) {
  std::string out = "build/bench-results";
  char** const found = std::find_if(
      argv, argv + argc, [](const char* each) { return each == std::string_view("--out"); });
  if (argv + argc - found < 2) return out;
  out = found[1];
  std::copy(found + 2, argv + argc, found);
  argc -= 2;
  return out;
}

void RunAll(int argc, char** argv) {
  const std::string out = TakeOut(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) throw Exit{2};
  RegisterBenchmarks();
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  collector.ToResults().Write(out);
}

}  // namespace
}  // namespace blocksieve::bench

int main(int argc, char** argv) {
  return blocksieve::bench::RunMain([&] { blocksieve::bench::RunAll(argc, argv); });
}
