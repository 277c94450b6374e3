#include "bench/filter_bench/collector.h"

#include <algorithm>

namespace blocksieve::bench {
namespace {

// What is compared: numerator and denominator.
struct Ratio {
  const char* title;
  const char* above;
  const char* below;
};

constexpr Ratio kRatios[] = {
    {"absent key, against stock Bloom 10", "absent/blocksieve_bloom", "absent/stock_bloom"},
    {"present key, against stock Bloom 10", "present/blocksieve_bloom", "present/stock_bloom"},
    {"batch of 32, against stock Bloom 10", "batch32/blocksieve_bloom", "batch32/stock_bloom"},
    {"batch of 8, against stock Bloom 10", "batch8/blocksieve_bloom", "batch8/stock_bloom"},
    {"batch of 4, against stock Bloom 10", "batch4/blocksieve_bloom", "batch4/stock_bloom"},
    {"build, against stock Bloom 10", "build/blocksieve_bloom", "build/stock_bloom"},
    {"absent key, against hash + one line", "absent/blocksieve_bloom", "absent/limit_hash_line"},
    {"raw probe AVX-512, against one line", "raw/blocksieve_bloom_avx512", "raw/limit_line"},
    {"raw probe AVX2, against one line", "raw/blocksieve_bloom_avx2", "raw/limit_line"},
    {"raw probe scalar, against one line", "raw/blocksieve_bloom_scalar", "raw/limit_line"},
    {"ribbon: absent, against stock Bloom 10", "absent/blocksieve_ribbon", "absent/stock_bloom"},
    {"ribbon: absent, against stock Ribbon", "absent/blocksieve_ribbon", "absent/stock_ribbon"},
    {"ribbon: batch of 32, against stock Bloom 10", "batch32/blocksieve_ribbon",
     "batch32/stock_bloom"},
    {"ribbon: batch of 8, against stock Bloom 10", "batch8/blocksieve_ribbon",
     "batch8/stock_bloom"},
    {"ribbon: batch of 4, against stock Bloom 10", "batch4/blocksieve_ribbon",
     "batch4/stock_bloom"},
    {"ribbon: build, against stock Ribbon", "build/blocksieve_ribbon", "build/stock_ribbon"},
    {"ribbon: raw AVX-512, against one line", "raw/blocksieve_ribbon_avx512", "raw/limit_line"},
    {"ribbon: raw AVX2, against AVX-512", "raw/blocksieve_ribbon_avx2",
     "raw/blocksieve_ribbon_avx512"},
};

// Repetitions are interleaved at random: none has a partner.
void AddRatio(const Ratio& ratio, uint64_t keys,
              const std::map<std::string, std::vector<double>>& nanoseconds, Results& results) {
  const auto above = nanoseconds.find(ratio.above + ("/" + std::to_string(keys)));
  const auto below = nanoseconds.find(ratio.below + ("/" + std::to_string(keys)));
  if (above == nanoseconds.end() || below == nanoseconds.end()) return;
  const Spread mine = SpreadOf(above->second);
  const Spread theirs = SpreadOf(below->second);
  results.Of(ratio.title, {{"keys", keys}})
      .Add("ratio", "x", Quotient(mine, theirs))
      .Add("times as fast", "x", Quotient(theirs, mine));
}

}  // namespace

void Collector::ReportRuns(const std::vector<Run>& runs) {
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

Results Collector::ToResults() const {
  Results results("filters");
  results.SetFact("seconds", stopwatch_.Seconds());
  // What targets depend on: whether stock filters may use the whole processor.
  const bool is_portable = DescribeRocksDb().find("without AVX2") != std::string::npos;
  results.SetFact("stock", is_portable ? "portable" : "native");
  for (const auto& [name, turns] : nanoseconds_) AddTimes(name, results);
  for (const Ratio& ratio : kRatios) {
    for (const uint64_t keys : kSizes) AddRatio(ratio, keys, nanoseconds_, results);
  }
  return results;
}

// Names are as "absent/stock_bloom/10000": what, who and keys.
void Collector::AddTimes(const std::string& name, Results& results) const {
  const size_t who = name.find('/') + 1;
  const size_t keys = name.rfind('/') + 1;
  std::string title = name.substr(who, keys - 1 - who);
  std::replace(title.begin(), title.end(), '_', ' ');
  Results::Rows rows = results.Of(
      title, {{"what", name.substr(0, who - 1)}, {"keys", std::stoull(name.substr(keys))}});
  rows.AddTurns("time", "ns per key", nanoseconds_.at(name));
  if (bits_per_key_.contains(name))
    rows.Add("bits per key", "bits", SpreadOf(bits_per_key_.at(name)).median);
  if (fpr_.contains(name)) rows.Add("FPR", "share", SpreadOf(fpr_.at(name)).median);
}

}  // namespace blocksieve::bench
