// Build and probe times of filters, and the physical limits, each at 10 k, 1 M and 10 M keys.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/filter_bench/collector.h"
#include "bench/filter_bench/contestants.h"
#include "bench/filter_bench/keys.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/hash/hash_inline.h"

namespace blocksieve::bench {
namespace {

constexpr uint64_t kProbesPerIteration = 4096;
constexpr uint64_t kFprProbes = 2'000'000;
constexpr size_t kBatches[] = {4, 8, 32};

rocksdb::Slice AsSlice(const Key16& key) { return {key.view().data(), key.view().size()}; }

// Every probe of a process asks for another key, so that no predictor or cache learns them.
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

void BuildFilter(benchmark::State& state, const Contestant& contestant, uint64_t num_keys) {
  for (auto _ : state) benchmark::DoNotOptimize(Build(contestant, num_keys));
  CountPerKey(state, num_keys);
}

void ProbeAbsent(benchmark::State& state, const Contestant& contestant, uint64_t num_keys) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  uint64_t positives = 0;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; ++i) {
      positives += filter.reader->MayMatch(AsSlice(Key16(first + i)));
    }
  }
  benchmark::DoNotOptimize(positives);
  CountPerKey(state, kProbesPerIteration);
  state.counters["bits_per_key"] =
      8.0 * static_cast<double>(filter.contents.size()) / static_cast<double>(num_keys);
  state.counters["fpr"] = MeasureFpr(filter, kFprProbes);
}

void ProbePresent(benchmark::State& state, const Contestant& contestant, uint64_t num_keys) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  uint64_t positives = 0;
  uint64_t probes = 0;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; ++i) {
      const uint64_t number =
          static_cast<uint64_t>((static_cast<unsigned __int128>(Mix(first + i)) * num_keys) >> 64);
      positives += filter.reader->MayMatch(AsSlice(Key16(number)));
    }
    probes += kProbesPerIteration;
  }
  if (positives != probes)
    Fail("{} denies {} keys that it has", contestant.name, probes - positives);
  CountPerKey(state, kProbesPerIteration);
}

void ProbeBatch(benchmark::State& state, const Contestant& contestant, uint64_t num_keys,
                size_t batch) {
  const BuiltFilter& filter = Cached(contestant, num_keys);
  std::vector<Key16> keys(batch, Key16(0));
  std::vector<rocksdb::Slice> slices(batch);
  std::vector<rocksdb::Slice*> pointers(batch);
  for (size_t i = 0; i < batch; ++i) {
    slices[i] = AsSlice(keys[i]);
    pointers[i] = &slices[i];
  }
  const auto may_match = std::make_unique<bool[]>(batch);
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; i += batch) {
      for (size_t j = 0; j < batch; ++j) keys[j] = Key16(first + i + j);
      filter.reader->MayMatch(static_cast<int>(batch), pointers.data(), may_match.get());
      benchmark::ClobberMemory();
    }
  }
  CountPerKey(state, kProbesPerIteration);
}

// Hashes are given, a block of them at a time, for the raw probes as for their limit.
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

void ProbeRaw(benchmark::State& state, const Contestant& contestant, Kernel kernel,
              uint64_t num_keys) {
  const rocksdb::Slice contents = Cached(contestant, num_keys).contents;
  const FilterReader reader =
      FilterReader::Open(AsBytes({contents.data(), contents.size()}), kernel);
  ProbeHashes(state, [&](const auto& hashes, bool* may_match) {
    reader.MayMatchHashes(hashes, may_match);
  });
}

// A table of 64-byte lines as large as a filter of 10 bits per key, of which a probe reads one bit:
// no filter can be faster than this.
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
  uint64_t positives = 0;
  for (auto _ : state) {
    const uint64_t first = NextNumbers(kProbesPerIteration);
    for (uint64_t i = 0; i < kProbesPerIteration; ++i) {
      positives += table.Bit(HashShortKey(Key16(first + i).view(), 0));
    }
  }
  benchmark::DoNotOptimize(positives);
  CountPerKey(state, kProbesPerIteration);
}

std::string Name(const std::string& what, const std::string& who, uint64_t num_keys) {
  return what + "/" + who + "/" + std::to_string(num_keys);
}

// Build, absent, present and batches of every contestant, the raw probes of every kernel, and the
// limits.
void RegisterBenchmarks() {
  using benchmark::RegisterBenchmark;
  for (const uint64_t n : kSizes) {
    for (const Contestant& c : Contestants()) {
      RegisterBenchmark(Name("build", c.name, n).c_str(), BuildFilter, c, n);
      RegisterBenchmark(Name("absent", c.name, n).c_str(), ProbeAbsent, c, n);
      RegisterBenchmark(Name("present", c.name, n).c_str(), ProbePresent, c, n);
      for (const size_t batch : kBatches) {
        RegisterBenchmark(Name("batch" + std::to_string(batch), c.name, n).c_str(), ProbeBatch, c,
                          n, batch);
      }
      if (!c.name.starts_with("blocksieve")) continue;
      for (const Kernel kernel : internal::AvailableKernels()) {
        const std::string who = c.name + "_" + std::string(KernelName(kernel));
        RegisterBenchmark(Name("raw", who, n).c_str(), ProbeRaw, c, kernel, n);
      }
    }
    RegisterBenchmark(Name("raw", "limit_line", n).c_str(), LimitOneLine, n);
    RegisterBenchmark(Name("absent", "limit_hash_line", n).c_str(), LimitHashAndLine, n);
  }
}

// Takes "--out DIR" out of the arguments; the others are Google Benchmark's.
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
