#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/ranges/workloads.h"
#include "bench/support/results.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::ranges {

/// How much is measured.
struct Effort {
  std::vector<std::string> sets;         ///< For databases.
  std::vector<std::string> filter_sets;  ///< For filters alone.
  uint64_t keys = 1'000'000;             ///< In each database.
  uint64_t filter_keys = 1'000'000;      ///< In each filter.
  size_t ranges = 10'000;                ///< Of each kind.
  size_t timed_ranges = 8'000;           ///< Per turn, of all lengths together.
  size_t cold_ranges = 400;
  size_t lookups = 20'000;  ///< Per turn.
  unsigned turns = 7;
  unsigned lookup_turns = 21;  ///< Lookups differ by a few percent at most.
  unsigned filter_turns = 5;
  WorkloadEffort workloads = {};
};

/// All of it. Throws Failure on any error and any wrong answer.
void RunExperiment(const Effort& effort, uint64_t seed, const std::filesystem::path& dir,
                   Progress& progress, Results& results);

}  // namespace blocksieve::bench::ranges
