#include "bench/scale/filters.h"

#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "bench/support/single_filter.h"
#include "blocksieve/hash.h"

namespace blocksieve::bench::scale {
namespace {

constexpr unsigned kFilterTurns = 3;  // few: the largest filters take half a minute each

// Builds a filter of the keys 0 ... num_keys - 1 (bench/support/keys.h).
BuiltFilter BuildOfKeys(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return BuildFilter(kind, target_fpr, [num_keys](FilterBuilder& builder) {
    for (uint64_t i = 0; i < num_keys; ++i) {
      if (i % (1 << 20) == 0) CheckInterrupt();
      builder.AddKey(Key16(i).view());
    }
  });
}

}  // namespace

FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  FilterResult result;
  BuiltFilter filter;
  for (unsigned turn = 0; turn < kFilterTurns; ++turn) {
    filter = {};  // frees the previous one first
    const Stopwatch building;
    filter = BuildOfKeys(kind, target_fpr, num_keys);
    result.build_ns_per_key.push_back(Ratio(1e9 * building.Seconds(), num_keys));
  }
  result.bytes = filter.block.size;
  result.false_negatives = num_keys - CountMatches(filter.reader, num_keys, [&](uint64_t i) {
                             return HashKey(Key16(i).view(), filter.reader.hash_seed());
                           });

  uint64_t positives = 0;
  uint64_t next = kFirstAbsent;
  for (unsigned turn = 0; turn < kFilterTurns; ++turn) {
    const Stopwatch probing;
    for (uint64_t i = 0; i < kProbes / kFilterTurns; ++i) {
      positives += filter.reader.MayContain(Key16(next++).view());
    }
    result.absent_ns.push_back(Ratio(1e9 * probing.Seconds(), kProbes / kFilterTurns));
  }
  result.fpr = Ratio(positives, kProbes);
  result.fpr_against_table = result.fpr / filter.layout.predicted_fpr;
  result.bytes_against_table = Ratio(result.bytes, PayloadBytes(filter.layout, num_keys));
  return result;
}

}  // namespace blocksieve::bench::scale
