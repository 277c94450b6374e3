#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/ranges/key_sets.h"

namespace blocksieve::bench::ranges {

/// Empty ranges of one kind.
struct Question {
  std::string name;
  double expected_keys = 0;
  Starts starts = Starts::kAtOthers;
  std::vector<Range> ranges;
};

/// How many keys ranges hold on average, if they are as long as these.
inline constexpr double kLengths[] = {0.001, 0.01, 0.1, 1};

/// For the JSON.
const char* StartsName(Starts starts);

/// `count` ranges of each length that begin at keys that are not there, then of one length from hot
/// ones, for one set of keys, and right after keys.
std::vector<Question> DrawQuestions(const KeySet& set, size_t count, uint64_t seed);

/// Ranges of all lengths that begin at keys that are not there, as many of each, in turns.
std::vector<Range> MixedLengths(const std::vector<Question>& questions);

}  // namespace blocksieve::bench::ranges
