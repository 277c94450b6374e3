#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ranges/key_sets.h"

namespace blocksieve::bench::ranges {

/// Number of sorted runs of every database.
inline constexpr uint64_t kRuns = 8;

/// Distributes the keys at random over kRuns runs of equal size.
std::vector<SortedKeys> RandomRuns(SortedKeys keys, uint64_t seed);

/// `count` ranges whose only key is their last.
std::vector<Range> DrawRangesOfOneKey(const KeySet& set, size_t count, uint64_t seed);

/// Empty ranges of one kind.
struct RangeQueries {
  std::string name;
  std::vector<Range> ranges;
};

/// Lengths of ranges: the number of keys that ranges of this length hold on average.
inline constexpr double kLengths[] = {0.001, 0.01, 0.1, 1};

/// `count` empty ranges of each length from absent keys on, then of one length right after keys.
std::vector<RangeQueries> DrawQueries(const KeySet& set, size_t count, uint64_t seed);

/// The ranges of all lengths that begin at absent keys, the same number of each, alternating.
std::vector<Range> MixedLengths(const std::vector<RangeQueries>& queries);

/// The number of runs that hold a key with this prefix.
size_t RunsWith(std::string_view prefix, std::span<const SortedKeys> runs);

/// Data blocks per seek in these empty ranges with an ideal filter, one without false positives, of
/// prefixes of `bytes` bytes.
double BlocksWithPrefixes(std::span<const SortedKeys> runs, std::span<const Range> ranges,
                          size_t bytes);

}  // namespace blocksieve::bench::ranges
