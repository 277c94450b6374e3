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

template <class T>
T Checked(Result<T> result) {
  if (!result.ok()) Fail("{}", result.status().message());
  return *std::move(result);
}

// Files without a filter of ranges are none of its failures.
struct Built {
  OwnedBytes block;
  std::string absent_reason;
};

Built BuildPoints(std::span<const std::string> keys) {
  FilterBuilder points =
      Checked(FilterBuilder::Create({.kind = FilterKind::kRibbon, .target_fpr = kPointFpr}));
  for (const std::string& key : keys) points.AddKey(key);
  return {Checked(points.Finish()), ""};
}

Built BuildBoth(std::span<const std::string> keys) {
  FilterBuilder points =
      Checked(FilterBuilder::Create({.kind = FilterKind::kRibbon, .target_fpr = kPointFpr}));
  RangeFilterBuilder ranges = Checked(RangeFilterBuilder::Create({.range_fpr = kComparedRangeFpr}));
  for (const std::string& key : keys) {
    points.AddKey(key);
    ranges.AddKey(key);
  }
  Built built{Checked(points.Finish()), ""};
  if (const Status status = ranges.Finish(&built.block); !status.ok()) Fail("{}", status.message());
  built.absent_reason = ranges.absent_reason();
  return built;
}

template <class Build>
double NanosecondsPerKey(std::span<const std::string> keys, Build build) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  build(keys);
  return 1e9 * stopwatch.CpuSeconds() / static_cast<double>(keys.size());
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

}  // namespace

FilterResult MeasureFilter(const KeySet& set, const std::vector<Question>& questions,
                           unsigned turns) {
  FilterResult result;
  result.set = set.name;
  result.keys = set.keys.size();
  result.range_fpr = kComparedRangeFpr;
  result.model_bits_per_key = RangeBitsPerKey(kComparedRangeFpr);
  for (unsigned turn = 0; turn < turns; ++turn) {
    result.points_nanoseconds.push_back(NanosecondsPerKey(set.keys, BuildPoints));
    result.build_nanoseconds.push_back(NanosecondsPerKey(set.keys, BuildBoth));
  }
  const Built built = BuildBoth(set.keys);
  result.absent_reason = built.absent_reason;
  if (!built.absent_reason.empty()) return result;

  const RangeFilterInfo info = Checked(DescribeRangeFilter(built.block.view()));
  result.bits_per_key = 8 * static_cast<double>(info.bytes) / static_cast<double>(info.num_keys);
  result.estimated_fpr = info.estimated_fpr;
  const RangeFilterReader reader = RangeFilterReader::Open(built.block.view());
  CheckDeniesNoKey(reader, set);
  for (const Question& question : questions) {
    const PackedRanges ranges(question.ranges);
    result.rates.push_back(static_cast<double>(ranges.CountMatches(reader)) /
                           static_cast<double>(ranges.size()));
  }
  const PackedRanges mixed(MixedLengths(questions));
  for (unsigned turn = 0; turn < turns; ++turn) {
    CheckInterrupt();
    const Stopwatch stopwatch;
    const uint64_t matches = mixed.CountMatches(reader);
    const double seconds = stopwatch.CpuSeconds();
    if (matches == mixed.size()) Fail("{}: the filter never says no", set.name);
    result.probe_nanoseconds.push_back(1e9 * seconds / static_cast<double>(mixed.size()));
  }
  return result;
}

std::vector<FixedBytesResult> MeasureSmallFilters(const KeySet& set) {
  std::vector<FixedBytesResult> results;
  for (const uint64_t num_keys : kSmallFilters) {
    if (num_keys > set.keys.size()) continue;
    for (const bool are_neighbours : {false, true}) {
      const uint64_t step = are_neighbours ? 1 : set.keys.size() / num_keys;
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(set.keys[i * step]);
      const Built built = BuildBoth(keys);
      if (!built.absent_reason.empty()) continue;
      const uint64_t bytes = Checked(DescribeRangeFilter(built.block.view())).bytes;
      const double of_keys = RangeBitsPerKey(kComparedRangeFpr) * static_cast<double>(num_keys) / 8;
      results.push_back({.set = set.name,
                         .keys = num_keys,
                         .are_neighbours = are_neighbours,
                         .bytes = bytes,
                         .fixed_bytes = static_cast<double>(bytes) - of_keys});
    }
  }
  return results;
}

}  // namespace blocksieve::bench::ranges
