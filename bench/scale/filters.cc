#include "bench/scale/filters.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "bench/filter_bench/keys.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter_builder.h"
#include "blocksieve/hash.h"

namespace blocksieve::bench::scale {
namespace {

constexpr uint64_t kBatch = 1024;

// Of a filter of 1 %, 420,000 false positives: known within 0.3 %, two standard deviations.
constexpr uint64_t kProbes = 42'000'000;

double NanosecondsPer(uint64_t count, const Stopwatch& stopwatch) {
  return 1e9 * stopwatch.Seconds() / static_cast<double>(count);
}

FilterResult Measure(FilterKind kind, double target_fpr, uint64_t num_keys) {
  FilterResult result;
  result.kind = kind;
  result.keys = num_keys;
  result.target_fpr = target_fpr;
  result.probes = kProbes;

  const uint64_t before = ResidentBytes();
  BuiltFilter filter;
  for (double& turn : result.build_ns_per_key) {
    filter = {};  // no two at a time
    const Stopwatch building;
    filter = BuildFilter(kind, target_fpr, {.first = 0, .count = num_keys});
    turn = NanosecondsPer(num_keys, building);
  }
  result.peak_build_bytes = PeakResidentBytes() - before;
  result.bytes = filter.block.size;
  result.table_fpr = filter.layout.predicted_fpr;
  result.table_bytes = PayloadBytes(filter.layout, num_keys);
  result.false_negatives = CountFalseNegatives(filter.reader, {.first = 0, .count = num_keys});

  uint64_t positives = 0;
  uint64_t next = kFirstAbsent;
  const uint64_t probes_per_turn = kProbes / result.absent_ns.size();
  for (double& turn : result.absent_ns) {
    const Stopwatch probing;
    for (uint64_t i = 0; i < probes_per_turn; ++i) {
      positives += filter.reader.MayMatch(Key16(next++).view());
    }
    turn = NanosecondsPer(probes_per_turn, probing);
  }
  result.fpr = static_cast<double>(positives) / static_cast<double>(kProbes);
  return result;
}

}  // namespace

BuiltFilter BuildFilter(FilterKind kind, double target_fpr, KeyRange keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) Fail("{}", builder.status().message());
  for (uint64_t i = 0; i < keys.count; ++i) {
    if (i % (kBatch * kBatch) == 0) CheckInterrupt();
    builder->AddKey(Key16(keys.first + i).view());
  }
  Result<OwnedBytes> block = builder->Finish();
  if (!block.ok()) Fail("{}", block.status().message());
  if (!builder->fallback_reason().empty()) Fail("{}", builder->fallback_reason());
  BuiltFilter filter{*std::move(block), builder->layout(), {}};
  filter.reader = FilterReader::Open(filter.block.view());
  return filter;
}

uint64_t CountFalseNegatives(const FilterReader& reader, KeyRange keys) {
  std::array<uint64_t, kBatch> hashes;
  std::array<bool, kBatch> may_match;
  uint64_t false_negatives = 0;
  for (uint64_t done = 0; done < keys.count; done += kBatch) {
    if (done % (kBatch * kBatch) == 0) CheckInterrupt();
    const uint64_t size = std::min(kBatch, keys.count - done);
    for (uint64_t i = 0; i < size; ++i) {
      hashes[i] = HashKey(Key16(keys.first + done + i).view(), reader.hash_seed());
    }
    reader.MayMatchHashes(std::span(hashes).first(size), may_match.data());
    false_negatives +=
        static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, false));
  }
  return false_negatives;
}

FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("a filter", [&] { return Measure(kind, target_fpr, num_keys); });
}

}  // namespace blocksieve::bench::scale
