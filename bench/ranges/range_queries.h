#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/ranges/key_sets.h"

namespace blocksieve::bench::ranges {

/// Sorted runs of every database.
inline constexpr uint64_t kRuns = 8;

/// Each key in any of kRuns runs of equal size.
std::vector<SortedKeys> RandomRuns(SortedKeys keys, uint64_t seed);

/// Where ranges begin.
enum class Starts {
  kAtOthers,       ///< At keys that the set does not have.
  kRightAfterKey,  ///< At the least key after one that it has.
};

/// `count` ranges that are as long as those that hold `expected_keys` keys on average, and hold
/// none.
std::vector<Range> DrawEmptyRanges(const KeySet& set, double expected_keys, Starts starts,
                                   size_t count, uint64_t seed);

/// `count` ranges that end right after the first key in them.
std::vector<Range> DrawRangesOfOneKey(const KeySet& set, size_t count, uint64_t seed);

/// Empty ranges of one kind.
struct RangeQueries {
  std::string name;
  std::vector<Range> ranges;
};

/// How many keys ranges hold on average, if they are as long as these.
inline constexpr double kLengths[] = {0.001, 0.01, 0.1, 1};

/// `count` ranges of each length that begin at keys that the set does not have, then of one length
/// right after keys.
std::vector<RangeQueries> DrawQueries(const KeySet& set, size_t count, uint64_t seed);

/// Ranges of all lengths that begin at keys that the set does not have, as many of each, in turns.
std::vector<Range> MixedLengths(const std::vector<RangeQueries>& queries);

/// Data blocks per seek in these ranges, which are empty, that a filter of prefixes of `bytes`
/// bytes leaves in sorted runs of these keys, if it has no false positives at all.
double BlocksWithPrefixes(std::span<const SortedKeys> runs, std::span<const Range> ranges,
                          size_t bytes);

}  // namespace blocksieve::bench::ranges
