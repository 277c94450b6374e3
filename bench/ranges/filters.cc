// SPDX-License-Identifier: Apache-2.0

#include "bench/ranges/experiment.h"
#include "bench/support/keys.h"
#include "blocksieve/filter.h"
#include "lib/base/coding.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kRangeFpr = 0.015;         // at which sizes and speeds are compared
constexpr size_t kColdBytes = 64 << 20;     // beyond the caches of most processors
constexpr uint64_t kKeysPerTurn = 200'000;  // fewer would be too short to time

// A range filter that could not be built is not an error.
FinishedFilter Build(const FilterOptions& options, const SortedKeys& keys) {
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  for (const std::string& key : keys) builder.AddKey(key);
  return Must(builder.Finish(), "filter");
}

double SecondsPerKey(const FilterOptions& options, const SortedKeys& keys) {
  const Stopwatch stopwatch;
  uint64_t built = 0;
  for (; built < kKeysPerTurn; built += keys.size()) Build(options, keys);
  return Ratio(stopwatch.CpuSeconds(), built);
}

// Bounds of seeks, contiguous and in the order of lookups, so that fetching them is not measured.
struct PackedRanges {
  explicit PackedRanges(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) bytes += range.begin + range.end;
    std::string_view rest = bytes;
    for (const Range& range : ranges) {
      begins.push_back(rest.substr(0, range.begin.size()));
      ends.push_back(rest.substr(range.begin.size(), range.end.size()));
      rest.remove_prefix(range.begin.size() + range.end.size());
    }
  }

  std::string bytes;
  std::vector<std::string_view> begins, ends;
};

// Nanoseconds per lookup in `filters`: of one, or each time of another, one at a time.
template <class LookUp>
double TimeLookups(const PackedRanges& ranges, std::span<const Filter> filters, LookUp look_up) {
  constexpr uint64_t kLookups = 200'000;
  CheckInterrupt();
  uint64_t number = 0, matches = 0;
  const Stopwatch stopwatch;
  while (number < kLookups) {
    for (size_t i = 0; i < ranges.begins.size(); ++i) {
      const bool is_cold = filters.size() > 1;
      const Filter& filter = is_cold ? filters[Mix(++number) % filters.size()] : filters.front();
      matches += look_up(filter, ranges.begins[i], ranges.ends[i]);
      if (is_cold) WaitForLoads();
    }
    if (filters.size() == 1) number += ranges.begins.size();
  }
  const double seconds = stopwatch.CpuSeconds();
  if (matches == number) Fail("the filter never says no");
  return Ratio(1e9 * seconds, number);
}

// Lookups of the first seeks of `dataset`, hot and cold.
void MeasureLookups(const Dataset& dataset, const ByteView& block, unsigned turns, Line& line) {
  const PackedRanges ranges(dataset.seeks.front().ranges);
  const std::vector<std::string> blocks(kColdBytes / block.size() + 1, std::string(AsText(block)));
  std::vector<Filter> filters;
  for (const std::string& copy : blocks) filters.push_back(Filter::Open(AsBytes(copy)));
  for (const bool is_cold : {false, true}) {
    const auto asked = std::span(filters).first(is_cold ? filters.size() : 1);
    std::vector<double> lookups[2];  // of keys and of ranges
    InTurns(turns, 2, [&](size_t i, unsigned) {
      lookups[i].push_back(TimeLookups(
          ranges, asked, [i](const Filter& filter, std::string_view begin, std::string_view end) {
            return i == 0 ? filter.MayContain(begin) : filter.MayContainRange(begin, end);
          }));
    });
    const std::string where = is_cold ? "cold: " : "hot: ";
    line.Add(where + "lookup", "ns", lookups[1])
        .Add(where + "relative to a key", "x", PairedRatio(lookups[1], lookups[0]),
             is_cold && !dataset.prefixes.empty() ? NotAbove(1.3) : Target{});
  }
}

void MeasureFilter(const Dataset& dataset, const SortedKeys& keys, FilterKind kind,
                   bool has_prefixes, unsigned turns, Results& results) {
  FilterOptions plain;
  plain.kind = kind;
  plain.target_fpr = 0.01;
  FilterOptions with_more = plain;
  if (has_prefixes) {
    with_more.prefixes = dataset.prefixes;
  } else {
    with_more.ranges = true;
    with_more.range_fpr = kRangeFpr;
  }
  std::vector<double> builds[2];  // without and with ranges or prefixes
  InTurns(turns, 2, [&](size_t i, unsigned) {
    builds[i].push_back(SecondsPerKey(i == 0 ? plain : with_more, keys));
  });
  const FinishedFilter built = Build(with_more, keys);
  const double bytes =
      static_cast<double>(built.block.size) - static_cast<double>(Build(plain, keys).block.size);
  std::string name = fmt::format("{}, {}, {}", dataset.name, has_prefixes ? "prefixes" : "ranges",
                                 FilterKindName(kind));
  if (!built.no_ranges_reason.empty()) name += ": none, " + built.no_ranges_reason;
  const bool has_few = dataset.name == "account:user:event" || dataset.name == "tenant | time" ||
                       dataset.name == "16 random bytes";
  Line& line = results.In(
      "One filter of all keys", "Keys, filter, kind",
      "Ranges: at an FPR of 1.5 %. Hot: in one filter. Cold: one at a time, in filters of 64 MiB "
      "together. A range filter that would let too much through is not written.")[name];
  line.Add("keys", "count", keys.size())
      .Add("build per key", "s", builds[1])
      .Add("build, relative to point filter", "x", PairedRatio(builds[1], builds[0]),
           dataset.prefixes.empty() ? NotAbove(1.8)
           : has_few                ? NotAbove(1.15)
                                    : Target{})
      .Add("bits per key above the point filter", "", 8 * bytes / static_cast<double>(keys.size()),
           dataset.prefixes.empty() ? NotAbove(8.6) : Target{});
  if (!built.no_ranges_reason.empty() || dataset.seeks.empty()) return;
  const Filter filter = Filter::Open(built.block.view());
  for (const std::string& key : keys) {
    if (!filter.MayContainRange(key, key + '\0')) Fail("{}: the filter denies a key", dataset.name);
  }
  MeasureLookups(dataset, built.block.view(), turns, line);
}

}  // namespace

void MeasureFilters(const Dataset& dataset, const Effort& effort, Job& job) {
  job.progress.Show(dataset.name + ": one filter");
  const SortedKeys keys = dataset.AllKeys();
  for (const FilterKind kind : {FilterKind::kRibbon, FilterKind::kBlockedBloom}) {
    if (!dataset.prefixes.empty()) {
      MeasureFilter(dataset, keys, kind, true, effort.filter_turns, job.results);
    }
    // Keys that are numbers, and those that are too similar for a range filter.
    const bool has_ranges = dataset.prefixes.empty() || dataset.name == "paths";
    if (has_ranges && kind == FilterKind::kRibbon) {
      MeasureFilter(dataset, keys, kind, false, effort.filter_turns, job.results);
    }
  }
}

}  // namespace blocksieve::bench::ranges
