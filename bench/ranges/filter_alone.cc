#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/ranges/experiment.h"
#include "bench/support/keys.h"
#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/filter/block_sizing.h"
#include "lib/range/range_filter.h"

namespace blocksieve::bench::ranges {
namespace {

// The default of policies.
const FilterOptions kPointFilter = {.kind = FilterKind::kRibbon, .target_fpr = 0.01};

// Builds and lookups are too short to be timed alone.
constexpr int kRepeats = 20;

// A filter block. An absent range filter is not an error.
struct Built {
  OwnedBytes block;
  std::string absent_reason;
};

Built Build(const FilterOptions& options, const SortedKeys& keys) {
  FilterBuilder builder = Must(FilterBuilder::Create(options), "filter");
  for (const std::string& key : keys) builder.AddKey(key);
  Built built{Must(builder.Finish(), "filter"), ""};
  built.absent_reason = builder.fallback_reason();
  return built;
}

double SecondsPerKey(const FilterOptions& options, const SortedKeys& keys) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  Build(options, keys);
  return Ratio(stopwatch.CpuSeconds(), keys.size());
}

template <class Ranges, class Probe>
uint64_t CountMatches(const Ranges& ranges, Probe probe) {
  uint64_t matches = 0;
  for (const auto& [begin, end] : ranges) matches += probe(begin, end);
  return matches;
}

// Seconds per probe of all ranges, `repeats` times. Throws Failure if all match.
template <class Ranges, class Probe>
double TimeProbes(const std::string& name, const Ranges& ranges, int repeats, Probe probe) {
  CheckInterrupt();
  uint64_t matches = 0;
  const Stopwatch stopwatch;
  for (int i = 0; i < repeats; ++i) matches += CountMatches(ranges, probe);
  const double seconds = stopwatch.CpuSeconds();
  const size_t probes = static_cast<size_t>(repeats) * ranges.size();
  if (matches == probes) Fail("{}: the filter never says no", name);
  return Ratio(seconds, probes);
}

// Bounds in the order of probes, contiguous in `bytes`, so that fetching them is not measured.
std::vector<std::pair<std::string_view, std::string_view>> Pack(const std::vector<Range>& ranges,
                                                                std::string* bytes) {
  for (const Range& range : ranges) *bytes += range.begin + range.end;
  std::string_view rest = *bytes;
  std::vector<std::pair<std::string_view, std::string_view>> packed;
  for (const Range& range : ranges) {
    const std::string_view begin = rest.substr(0, range.begin.size());
    packed.emplace_back(begin, rest.substr(begin.size(), range.end.size()));
    rest.remove_prefix(range.begin.size() + range.end.size());
  }
  return packed;
}

// Seconds per lookup of a seek in `filters`: of one, or each time of another, one at a time.
template <class LookUp>
double TimeLookups(const StructuredKeys& set, std::span<const Filter> filters, LookUp look_up) {
  uint64_t number = 0;
  return TimeProbes(set.name, set.seeks.front().ranges, kRepeats,
                    [&](const auto& begin, const auto& end) {
                      if (filters.size() == 1) return look_up(filters.front(), begin, end);
                      const Filter& filter = filters[Mix(++number) % filters.size()];
                      const bool may_match = look_up(filter, begin, end);
                      WaitForLoads();
                      return may_match;
                    });
}

}  // namespace

void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results) {
  FilterOptions with_ranges = kPointFilter;
  with_ranges.ranges = true;
  with_ranges.range_fpr = kComparedRangeFpr;
  std::vector<double> points, both;
  for (unsigned turn = 0; turn < turns; ++turn) {
    points.push_back(SecondsPerKey(kPointFilter, set.keys));
    both.push_back(SecondsPerKey(with_ranges, set.keys));
  }
  const Built built = Build(with_ranges, set.keys);
  const bool is_refused = !built.absent_reason.empty();
  auto rows =
      results.Of(is_refused ? "refused" : "filter alone",
                 {{"keys", set.name}, {"number", set.keys.size()}, {"why", built.absent_reason}});
  rows.AddTurns("build per key: with range filter", "s", both)
      .AddTurns("build per key: point filter alone", "s", points)
      .Add("build per key: ratio", "x", PairedRatio(both, points));
  if (is_refused) return;

  const RangeFilterInfo info = Must(DescribeRangeFilter(built.block.view()), "range filter");
  const RangeFilterReader reader = RangeFilterReader::Open(built.block.view());
  const auto probe = [&reader](std::string_view begin, std::string_view end) {
    return reader.MayContain(begin, end);
  };
  for (const std::string& key : set.keys) {
    if (!probe(key, key + '\0')) Fail("{}: the filter denies a key", set.name);
  }
  std::string bytes;
  const auto mixed = Pack(MixedLengths(queries), &bytes);
  std::vector<double> nanoseconds;
  for (unsigned turn = 0; turn < turns; ++turn) {
    nanoseconds.push_back(1e9 * TimeProbes(set.name, mixed, 1, probe));
  }
  rows.Add("bits per key", "", Ratio(8 * info.bytes, info.num_keys))
      .Add("bits per key, by the model", "", RangeBitsPerKey(kComparedRangeFpr))
      .Add("FPR, estimated by the filter", "share", info.estimated_fpr)
      .AddTurns("probe", "ns", nanoseconds);
  for (const RangeQueries& each : queries) {
    rows.Add("may match: " + each.name, "share",
             Ratio(CountMatches(each.ranges, probe), each.ranges.size()));
  }
}

void MeasureFilterWithPrefixes(const StructuredKeys& set, unsigned turns, Results& results) {
  constexpr size_t kColdBytes = 64 << 20;  // beyond the caches of most processors
  const SortedKeys& keys = set.runs.front();
  for (const FilterKind kind : BuildableFilterKinds()) {
    FilterOptions plain = kPointFilter;
    plain.kind = kind;
    FilterOptions with_prefixes = plain;
    with_prefixes.prefixes = set.prefixes;
    std::vector<double> builds[2];  // without and with prefixes
    InTurns(turns, 2, [&](size_t i, unsigned) {
      const Stopwatch stopwatch;
      for (int n = 0; n < kRepeats; ++n) Build(i == 0 ? plain : with_prefixes, keys);
      builds[i].push_back(Ratio(stopwatch.CpuSeconds(), kRepeats * keys.size()));
    });
    auto rows = results.Of(fmt::format("filter alone, {}", FilterKindName(kind)),
                           {{"structure", set.name}});
    rows.AddTurns("build per key", "s", builds[1])
        .Add("build, relative to point filter", "x", PairedRatio(builds[1], builds[0]));
    if (set.seeks.empty()) continue;

    const std::string block(AsText(Build(with_prefixes, keys).block.view()));
    const std::vector<std::string> blocks(kColdBytes / block.size() + 1, block);
    std::vector<Filter> filters;
    for (const std::string& copy : blocks) filters.push_back(Filter::Open(AsBytes(copy)));
    for (const bool is_cold : {false, true}) {
      const auto asked = std::span(filters).first(is_cold ? filters.size() : 1);
      std::vector<double> lookups[2];  // of keys and of prefixes
      InTurns(turns, 2, [&](size_t i, unsigned) {
        lookups[i].push_back(
            TimeLookups(set, asked, [i](const Filter& filter, const auto& begin, const auto& end) {
              return i == 0 ? filter.MayContain(begin) : filter.MayContainRange(begin, end);
            }));
      });
      const std::string where = is_cold ? "cold: " : "hot: ";
      rows.AddTurns(where + "lookup of a prefix", "s", lookups[1])
          .Add(where + "lookup of a prefix, relative to a key", "x",
               PairedRatio(lookups[1], lookups[0]));
    }
  }
}

}  // namespace blocksieve::bench::ranges
