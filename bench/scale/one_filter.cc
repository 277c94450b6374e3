#include "bench/scale/one_filter.h"

#include "bench/filter_bench/keys.h"
#include "bench/scale/build.h"
#include "bench/support/own_process.h"
#include "bench/support/stopwatch.h"
#include "blocksieve/filter_reader.h"

namespace blocksieve::bench::scale {
namespace {

// Of a filter of 1 %, 400,000 false positives: known within 0.3 %, two standard deviations.
constexpr uint64_t kProbes = 40'000'000;

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
  const Stopwatch building;
  const BuiltFilter filter = BuildFilter(kind, target_fpr, {.first = 0, .count = num_keys});
  result.build_ns_per_key = NanosecondsPer(num_keys, building);
  result.peak_build_bytes = PeakResidentBytes() - before;
  result.bytes = filter.block.size;
  result.table_fpr = filter.layout.predicted_fpr;
  result.table_bytes = PayloadBytes(filter.layout, num_keys);
  result.false_negatives = CountFalseNegatives(filter.reader, {.first = 0, .count = num_keys});

  uint64_t positives = 0;
  const Stopwatch probing;
  for (uint64_t i = 0; i < kProbes; ++i) {
    positives += filter.reader.MayMatch(Key16(kFirstAbsent + i).view());
  }
  result.absent_ns = NanosecondsPer(kProbes, probing);
  result.fpr = static_cast<double>(positives) / static_cast<double>(kProbes);
  return result;
}

}  // namespace

FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("a filter", [&] { return Measure(kind, target_fpr, num_keys); });
}

}  // namespace blocksieve::bench::scale
