#include "bench/ranges/experiment.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter.h"
#include "lib/range/range_filter.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kPointFpr = 0.01;  // the default of policies

// A filter block. An absent range filter is not an error.
struct Built {
  OwnedBytes block;
  std::string absent_reason;
};

Built Build(std::span<const std::string> keys, bool with_ranges) {
  FilterBuilder points =
      Must(FilterBuilder::Create({.kind = FilterKind::kRibbon, .target_fpr = kPointFpr}), "filter");
  RangeFilterBuilder ranges =
      Must(RangeFilterBuilder::Create({.range_fpr = kComparedRangeFpr}), "range filter");
  for (const std::string& key : keys) {
    points.AddKey(key);
    if (with_ranges) ranges.AddKey(key);
  }
  Built built{Must(points.Finish(), "filter"), ""};
  if (!with_ranges) return built;
  if (const Status status = ranges.Finish(&built.block); !status.ok()) Fail("{}", status.message());
  built.absent_reason = ranges.absent_reason();
  return built;
}

double SecondsPerKey(std::span<const std::string> keys, bool with_ranges) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  Build(keys, with_ranges);
  return stopwatch.CpuSeconds() / static_cast<double>(keys.size());
}

template <class Ranges>
uint64_t CountMatches(const Ranges& ranges, const RangeFilterReader& reader) {
  uint64_t matches = 0;
  for (const auto& [begin, end] : ranges) matches += reader.MayContain(begin, end);
  return matches;
}

void CheckDeniesNoKey(const RangeFilterReader& reader, const KeySet& set) {
  for (const std::string& key : set.keys) {
    if (!reader.MayContain(key, key + '\0')) Fail("{}: the filter denies a key", set.name);
  }
}

// Nanoseconds per probe, by turn.
std::vector<double> TimeProbes(std::span<const Range> ranges, const RangeFilterReader& reader,
                               const KeySet& set, unsigned turns) {
  // Contiguous, in the order of probes, so that fetching the bounds is not measured.
  std::string bytes;
  for (const Range& range : ranges) bytes += range.begin + range.end;
  std::string_view rest = bytes;
  std::vector<std::pair<std::string_view, std::string_view>> packed;
  for (const Range& range : ranges) {
    const std::string_view begin = rest.substr(0, range.begin.size());
    packed.emplace_back(begin, rest.substr(begin.size(), range.end.size()));
    rest.remove_prefix(range.begin.size() + range.end.size());
  }
  std::vector<double> nanoseconds;
  for (unsigned turn = 0; turn < turns; ++turn) {
    CheckInterrupt();
    const Stopwatch stopwatch;
    const uint64_t matches = CountMatches(packed, reader);
    nanoseconds.push_back(1e9 * stopwatch.CpuSeconds() / static_cast<double>(ranges.size()));
    if (matches == ranges.size()) Fail("{}: the filter never says no", set.name);
  }
  return nanoseconds;
}

}  // namespace

void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results) {
  std::vector<double> points, both;
  for (unsigned turn = 0; turn < turns; ++turn) {
    points.push_back(SecondsPerKey(set.keys, false));
    both.push_back(SecondsPerKey(set.keys, true));
  }
  const Built built = Build(set.keys, true);
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
  CheckDeniesNoKey(reader, set);
  rows.Add("bits per key", "",
           8 * static_cast<double>(info.bytes) / static_cast<double>(info.num_keys))
      .Add("bits per key, by the model", "", RangeBitsPerKey(kComparedRangeFpr))
      .Add("FPR, estimated by the filter", "share", info.estimated_fpr)
      .AddTurns("probe", "ns", TimeProbes(MixedLengths(queries), reader, set, turns));
  for (const RangeQueries& each : queries) {
    const auto matches = static_cast<double>(CountMatches(each.ranges, reader));
    rows.Add("may match: " + each.name, "share", matches / static_cast<double>(each.ranges.size()));
  }
}

}  // namespace blocksieve::bench::ranges
