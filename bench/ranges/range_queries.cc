#include "bench/ranges/range_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string_view>
#include <utility>

#include "bench/support/terminal.h"

namespace blocksieve::bench::ranges {
namespace {

using Random = std::mt19937_64;

// Length of ranges right after a key: short, so that their beginning is what matters.
constexpr double kAfterKeyLength = 0.01;

// Empty ranges, as long as those that hold `expected_keys` keys on average. They begin at absent
// keys, or right after present ones.
std::vector<Range> DrawEmptyRanges(const KeySet& set, double expected_keys, bool are_after_keys,
                                   size_t count, uint64_t seed) {
  Random random(seed);
  const std::vector<std::string>& from = are_after_keys ? set.keys : set.others;
  std::vector<Range> ranges;
  for (uint64_t tries = 0; ranges.size() < count; ++tries) {
    if (tries == 1'000 * count) Fail("{}: no range without keys is found", set.name);
    if (tries % 65'536 == 0) CheckInterrupt();
    const std::string& key = from[random() % from.size()];
    Range range{are_after_keys ? key + '\0' : key, set.end(key, expected_keys)};
    if (range.begin < range.end && !set.HasKeyIn(range)) ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace

std::vector<SortedKeys> RandomRuns(SortedKeys keys, uint64_t seed) {
  std::shuffle(keys.begin(), keys.end(), Random(seed));
  std::vector<SortedKeys> runs(kRuns);
  for (size_t i = 0; i < keys.size(); ++i) runs[i % kRuns].push_back(std::move(keys[i]));
  for (SortedKeys& run : runs) std::sort(run.begin(), run.end());
  return runs;
}

std::vector<Range> DrawRangesOfOneKey(const KeySet& set, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Range> ranges;
  while (ranges.size() < count) {
    const std::string& begin = set.others[random() % set.others.size()];
    const std::string* const next = set.Next(begin);
    if (next != nullptr) ranges.push_back({begin, *next + '\0'});
  }
  return ranges;
}

std::vector<RangeQueries> DrawQueries(const KeySet& set, size_t count, uint64_t seed) {
  std::vector<RangeQueries> queries;
  for (const double length : kLengths) {
    queries.push_back({length == 1 ? "1 key" : fmt::format("{:g} keys", length),
                       DrawEmptyRanges(set, length, false, count, seed++)});
  }
  queries.push_back(
      {"right after a key", DrawEmptyRanges(set, kAfterKeyLength, true, count, seed)});
  return queries;
}

std::vector<Range> MixedLengths(const std::vector<RangeQueries>& queries) {
  std::vector<Range> mixed;
  for (size_t i = 0; i < queries.front().ranges.size(); ++i) {
    for (size_t length = 0; length < std::size(kLengths); ++length) {
      mixed.push_back(queries[length].ranges[i]);
    }
  }
  return mixed;
}

size_t RunsWith(std::string_view prefix, std::span<const SortedKeys> runs) {
  return static_cast<size_t>(std::count_if(runs.begin(), runs.end(), [&](const SortedKeys& run) {
    const auto first = std::lower_bound(run.begin(), run.end(), prefix);
    return first != run.end() && first->starts_with(prefix);
  }));
}

double BlocksWithPrefixes(std::span<const SortedKeys> runs, std::span<const Range> ranges,
                          size_t bytes) {
  uint64_t blocks = 0;
  for (const Range& range : ranges) {
    const std::string_view prefix = std::string_view(range.begin).substr(0, bytes);
    const bool is_checked = prefix == std::string_view(range.end).substr(0, bytes);  // by RocksDB
    blocks += is_checked ? RunsWith(prefix, runs) : runs.size();
  }
  return static_cast<double>(blocks) / static_cast<double>(ranges.size());
}

}  // namespace blocksieve::bench::ranges
