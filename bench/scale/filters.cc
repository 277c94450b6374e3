#include "bench/scale/filters.h"

#include <algorithm>
#include <array>
#include <span>

#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::scale {
namespace {

constexpr uint64_t kBatch = 1024;

struct BuiltFilter {
  OwnedBytes block;
  Layout layout;
  Filter reader;  // of `block`
};

// Builds a filter of the keys 0 ... num_keys - 1 (bench/support/keys.h).
BuiltFilter BuildFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  for (uint64_t i = 0; i < num_keys; ++i) {
    if (i % (kBatch * kBatch) == 0) CheckInterrupt();
    builder.AddKey(Key16(i).view());
  }
  BuiltFilter filter{Must(builder.Finish(), "filter"), builder.layout(), {}};
  if (!builder.fallback_reason().empty()) Fail("{}", builder.fallback_reason());
  filter.reader = Filter::Open(filter.block.view());
  return filter;
}

// Probes for every key; all are present.
uint64_t CountFalseNegatives(const Filter& reader, uint64_t num_keys) {
  std::array<uint64_t, kBatch> hashes;
  std::array<bool, kBatch> may_match;
  uint64_t false_negatives = 0;
  for (uint64_t done = 0; done < num_keys; done += kBatch) {
    if (done % (kBatch * kBatch) == 0) CheckInterrupt();
    const uint64_t size = std::min(kBatch, num_keys - done);
    for (uint64_t i = 0; i < size; ++i) {
      hashes[i] = HashKey(Key16(done + i).view(), reader.hash_seed());
    }
    reader.MayContainHashes(std::span(hashes).first(size), may_match.data());
    false_negatives +=
        static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, false));
  }
  return false_negatives;
}

FilterResult BuildAndProbe(FilterKind kind, double target_fpr, uint64_t num_keys) {
  FilterResult result;
  const uint64_t before = ResidentBytes();
  BuiltFilter filter;
  for (double& turn : result.build_ns_per_key) {
    filter = {};  // frees the previous one first
    const Stopwatch building;
    filter = BuildFilter(kind, target_fpr, num_keys);
    turn = Ratio(1e9 * building.Seconds(), num_keys);
  }
  result.peak_build_bytes = PeakResidentBytes() - before;
  result.bytes = filter.block.size;
  result.false_negatives = CountFalseNegatives(filter.reader, num_keys);

  uint64_t positives = 0;
  uint64_t next = kFirstAbsent;
  const uint64_t probes_per_turn = kProbes / result.absent_ns.size();
  for (double& turn : result.absent_ns) {
    const Stopwatch probing;
    for (uint64_t i = 0; i < probes_per_turn; ++i) {
      positives += filter.reader.MayContain(Key16(next++).view());
    }
    turn = Ratio(1e9 * probing.Seconds(), probes_per_turn);
  }
  result.fpr = Ratio(positives, kProbes);
  result.fpr_against_table = result.fpr / filter.layout.predicted_fpr;
  result.bytes_against_table = Ratio(result.bytes, PayloadBytes(filter.layout, num_keys));
  return result;
}

}  // namespace

FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("a filter", [&] { return BuildAndProbe(kind, target_fpr, num_keys); });
}

}  // namespace blocksieve::bench::scale
