#include "bench/scale/filters.h"

#include <algorithm>
#include <span>
#include <vector>

#include "bench/filter_bench/keys.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"

namespace blocksieve::bench::scale {
namespace {

constexpr uint64_t kBatch = 1024;

// The fewest wasted reads, 0.0015 per lookup, are then known within 2 %, two standard deviations.
constexpr uint64_t kLookups = 10'000'000;

// The keys with numbers first ... first + count - 1 (bench/filter_bench/keys.h).
struct KeyRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

struct BuiltFilter {
  OwnedBytes block;
  Layout layout;
  Filter reader;  // of `block`
};

BuiltFilter BuildFilter(FilterKind kind, double target_fpr, KeyRange keys) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  for (uint64_t i = 0; i < keys.count; ++i) {
    if (i % (kBatch * kBatch) == 0) CheckInterrupt();
    builder.AddKey(Key16(keys.first + i).view());
  }
  BuiltFilter filter{Must(builder.Finish(), "filter"), builder.layout(), {}};
  if (!builder.fallback_reason().empty()) Fail("{}", builder.fallback_reason());
  filter.reader = Filter::Open(filter.block.view());
  return filter;
}

// Probes for every key of the range; all are present.
uint64_t CountFalseNegatives(const Filter& reader, KeyRange keys) {
  std::array<uint64_t, kBatch> hashes;
  std::array<bool, kBatch> may_match;
  uint64_t false_negatives = 0;
  for (uint64_t done = 0; done < keys.count; done += kBatch) {
    if (done % (kBatch * kBatch) == 0) CheckInterrupt();
    const uint64_t size = std::min(kBatch, keys.count - done);
    for (uint64_t i = 0; i < size; ++i) {
      hashes[i] = HashKey(Key16(keys.first + done + i).view(), reader.hash_seed());
    }
    reader.MayContainHashes(std::span(hashes).first(size), may_match.data());
    false_negatives +=
        static_cast<uint64_t>(std::count(may_match.begin(), may_match.begin() + size, false));
  }
  return false_negatives;
}

double NanosecondsPer(uint64_t count, const Stopwatch& stopwatch) {
  return 1e9 * stopwatch.Seconds() / static_cast<double>(count);
}

FilterResult BuildAndProbe(FilterKind kind, double target_fpr, KeyRange keys) {
  FilterResult result;
  const uint64_t before = ResidentBytes();
  BuiltFilter filter;
  for (double& turn : result.build_ns_per_key) {
    filter = {};  // frees the previous one first
    const Stopwatch building;
    filter = BuildFilter(kind, target_fpr, keys);
    turn = NanosecondsPer(keys.count, building);
  }
  result.peak_build_bytes = PeakResidentBytes() - before;
  result.bytes = filter.block.size;
  result.false_negatives = CountFalseNegatives(filter.reader, keys);

  uint64_t positives = 0;
  uint64_t next = kFirstAbsent;
  const uint64_t probes_per_turn = kProbes / result.absent_ns.size();
  for (double& turn : result.absent_ns) {
    const Stopwatch probing;
    for (uint64_t i = 0; i < probes_per_turn; ++i) {
      positives += filter.reader.MayContain(Key16(next++).view());
    }
    turn = NanosecondsPer(probes_per_turn, probing);
  }
  result.fpr = static_cast<double>(positives) / static_cast<double>(kProbes);
  result.fpr_against_table = result.fpr / filter.layout.predicted_fpr;
  result.bytes_against_table = static_cast<double>(result.bytes) /
                               static_cast<double>(PayloadBytes(filter.layout, keys.count));
  return result;
}

using Level = std::vector<BuiltFilter>;

Level BuildLevel(KeyRange keys, double target_fpr, TreeResult* result) {
  Level level;
  const uint64_t num_files = NumFiles(keys.count);
  for (uint64_t i = 0; i < num_files; ++i) {
    CheckInterrupt();
    const uint64_t begin = keys.count * i / num_files;
    const uint64_t end = keys.count * (i + 1) / num_files;
    const KeyRange range{.first = keys.first + begin, .count = end - begin};
    level.push_back(BuildFilter(FilterKind::kRibbon, target_fpr, range));
    result->false_negatives += CountFalseNegatives(level.back().reader, range);
    result->bytes += level.back().block.size;
  }
  return level;
}

// A key is equally likely to be in the range of any file of a level.
const Filter& FileOf(const Level& level, uint64_t absent_key) {
  const auto place = static_cast<unsigned __int128>(Mix(absent_key)) * level.size();
  return level[static_cast<size_t>(place >> 64)].reader;
}

TreeResult BuildAndProbe(const TreePlan& plan) {
  TreeResult result;
  std::vector<Level> levels;
  uint64_t first = 0;
  uint64_t wasted = 0;
  for (size_t i = 0; i < plan.level_keys.size(); ++i) {
    const KeyRange keys{.first = first, .count = plan.level_keys[i]};
    first += keys.count;
    result.files += NumFiles(keys.count);
    if (plan.target_fprs[i] < 1) {
      levels.push_back(BuildLevel(keys, plan.target_fprs[i], &result));
    } else {
      wasted += kLookups;  // every lookup reads a block there
    }
  }
  for (uint64_t number = kFirstAbsent; number < kFirstAbsent + kLookups; ++number) {
    const uint64_t hash = HashKey(Key16(number).view());
    for (const Level& level : levels) wasted += FileOf(level, number).MayContainHash(hash);
  }
  result.wasted_reads = static_cast<double>(wasted) / static_cast<double>(kLookups);
  return result;
}

}  // namespace

FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys) {
  return InOwnProcess("a filter",
                      [&] { return BuildAndProbe(kind, target_fpr, {.count = num_keys}); });
}

TreeResult MeasureTree(const TreePlan& plan) {
  return InOwnProcess("a tree of filters", [&] { return BuildAndProbe(plan); });
}

}  // namespace blocksieve::bench::scale
