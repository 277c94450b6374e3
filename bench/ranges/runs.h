#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace blocksieve::bench::ranges {

/// Sorted runs of every database.
inline constexpr uint64_t kRuns = 8;

/// Each key in any of kRuns runs, each of which is in order and has as many.
inline std::vector<std::vector<std::string>> RandomRuns(std::vector<std::string> keys,
                                                        uint64_t seed) {
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(seed));
  std::vector<std::vector<std::string>> runs(kRuns);
  for (size_t i = 0; i < keys.size(); ++i) runs[i % kRuns].push_back(std::move(keys[i]));
  for (std::vector<std::string>& run : runs) std::sort(run.begin(), run.end());
  return runs;
}

}  // namespace blocksieve::bench::ranges
