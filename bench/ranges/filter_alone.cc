#include "bench/ranges/filter_alone.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "blocksieve/filter_builder.h"
#include "blocksieve/range_filter.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kPointFpr = 0.01;  // what policies have if nothing is asked for
constexpr uint64_t kSmallFilters[] = {300, 1'000, 3'000};

// Files without a filter of ranges are none of its failures.
struct Built {
  OwnedBytes block;
  std::string absent_reason;
};

Built BuildPoints(std::span<const std::string> keys) {
  FilterBuilder points =
      Must(FilterBuilder::Create({.kind = FilterKind::kRibbon, .target_fpr = kPointFpr}), "filter");
  for (const std::string& key : keys) points.AddKey(key);
  return {Must(points.Finish(), "filter"), ""};
}

Built BuildBoth(std::span<const std::string> keys) {
  FilterBuilder points =
      Must(FilterBuilder::Create({.kind = FilterKind::kRibbon, .target_fpr = kPointFpr}), "filter");
  RangeFilterBuilder ranges =
      Must(RangeFilterBuilder::Create({.range_fpr = kComparedRangeFpr}), "range filter");
  for (const std::string& key : keys) {
    points.AddKey(key);
    ranges.AddKey(key);
  }
  Built built{Must(points.Finish(), "filter"), ""};
  if (const Status status = ranges.Finish(&built.block); !status.ok()) Fail("{}", status.message());
  built.absent_reason = ranges.absent_reason();
  return built;
}

template <class Build>
double SecondsPerKey(std::span<const std::string> keys, Build build) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  build(keys);
  return stopwatch.CpuSeconds() / static_cast<double>(keys.size());
}

// In one piece of memory, in the order of asking: what is measured is not how they are fetched.
class PackedRanges {
 public:
  explicit PackedRanges(const std::vector<Range>& ranges) {
    for (const Range& range : ranges) {
      bytes_ += range.begin;
      bytes_ += range.end;
    }
    size_t at = 0;
    const auto take = [&](const std::string& text) {
      return std::string_view(bytes_).substr(std::exchange(at, at + text.size()), text.size());
    };
    for (const Range& range : ranges) {
      const std::string_view begin = take(range.begin);
      views_.emplace_back(begin, take(range.end));
    }
  }

  size_t size() const { return views_.size(); }

  uint64_t CountMatches(const RangeFilterReader& reader) const {
    uint64_t matches = 0;
    for (const auto& [begin, end] : views_) matches += reader.MayContain(begin, end);
    return matches;
  }

 private:
  std::string bytes_;
  std::vector<std::pair<std::string_view, std::string_view>> views_;
};

void CheckDeniesNoKey(const RangeFilterReader& reader, const KeySet& set) {
  for (const std::string& key : set.keys) {
    if (!reader.MayContain(key, key + '\0')) Fail("{}: the filter denies a key", set.name);
  }
}

// Nanoseconds per probe, by turn.
std::vector<double> TimeProbes(const PackedRanges& ranges, const RangeFilterReader& reader,
                               const KeySet& set, unsigned turns) {
  std::vector<double> nanoseconds;
  for (unsigned turn = 0; turn < turns; ++turn) {
    CheckInterrupt();
    const Stopwatch stopwatch;
    const uint64_t matches = ranges.CountMatches(reader);
    nanoseconds.push_back(1e9 * stopwatch.CpuSeconds() / static_cast<double>(ranges.size()));
    if (matches == ranges.size()) Fail("{}: the filter never says no", set.name);
  }
  return nanoseconds;
}

// The most bytes that small filters take besides their bits per key; negative: all are refused.
double MaxFixedBytes(const KeySet& set) {
  double most = -1;
  for (const uint64_t num_keys : kSmallFilters) {
    if (num_keys > set.keys.size()) continue;
    for (const uint64_t step : {uint64_t{1}, set.keys.size() / num_keys}) {
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(set.keys[i * step]);
      const Built built = BuildBoth(keys);
      if (!built.absent_reason.empty()) continue;
      const auto bytes =
          static_cast<double>(Must(DescribeRangeFilter(built.block.view()), "range filter").bytes);
      most = std::max(
          most, bytes - RangeBitsPerKey(kComparedRangeFpr) * static_cast<double>(num_keys) / 8);
    }
  }
  return most;
}

}  // namespace

void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results) {
  std::vector<double> points, both;
  for (unsigned turn = 0; turn < turns; ++turn) {
    points.push_back(SecondsPerKey(set.keys, BuildPoints));
    both.push_back(SecondsPerKey(set.keys, BuildBoth));
  }
  const Built built = BuildBoth(set.keys);
  const bool is_refused = !built.absent_reason.empty();
  auto rows =
      results.Of(is_refused ? "refused" : "filter alone",
                 {{"keys", set.name}, {"number", set.keys.size()}, {"why", built.absent_reason}});
  rows.AddTurns("building, per key: with ranges", "s", both)
      .AddTurns("building, per key: points alone", "s", points)
      .Add("building, per key: ratio", "x", PairedRatio(both, points));
  if (is_refused) return;

  const RangeFilterInfo info = Must(DescribeRangeFilter(built.block.view()), "range filter");
  const RangeFilterReader reader = RangeFilterReader::Open(built.block.view());
  CheckDeniesNoKey(reader, set);
  rows.Add("bits per key", "",
           8 * static_cast<double>(info.bytes) / static_cast<double>(info.num_keys))
      .Add("bits per key, model", "", RangeBitsPerKey(kComparedRangeFpr))
      .Add("FPR, its own estimate", "share", info.estimated_fpr)
      .AddTurns("probe", "ns", TimeProbes(PackedRanges(MixedLengths(queries)), reader, set, turns));
  for (const RangeQueries& each : queries) {
    const PackedRanges ranges(each.ranges);
    rows.Add(("may match: " + each.name).c_str(), "share",
             static_cast<double>(ranges.CountMatches(reader)) / static_cast<double>(ranges.size()));
  }
  if (const double most = MaxFixedBytes(set); most >= 0) {
    rows.Add("bytes besides the bits per key", "bytes", most);
  }
}

}  // namespace blocksieve::bench::ranges
