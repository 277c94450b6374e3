#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/ranges/range_queries.h"
#include "bench/support/job.h"
#include "bench/support/results.h"

namespace blocksieve::bench::ranges {

/// How much is measured.
struct Effort {
  // Key sets for databases, and for filters alone.
  std::vector<std::string> sets = {kIntegers, kUsers, kTenantTime, kPaths};
  std::vector<std::string> filter_sets = sets;

  uint64_t keys = 1'000'000;         ///< In each database.
  uint64_t filter_keys = 1'000'000;  ///< In each filter.
  size_t ranges = 10'000;            ///< Of each kind.
  size_t timed_ranges = 8'000;       ///< Per turn, of all lengths together.
  size_t cold_ranges = 400;
  size_t lookups = 20'000;  ///< Per turn.
  unsigned turns = 7;
  unsigned lookup_turns = 21;  ///< Lookups differ by a few percent at most.
  unsigned filter_turns = 5;

  size_t operations = 20'000;      ///< Per turn of a workload, cached.
  size_t cold_operations = 1'000;  ///< The same, cold.
  unsigned workload_turns = 5;
};

/// The rate for which sizes and speeds of filters are compared.
inline constexpr double kComparedRangeFpr = 0.015;

/// Builds a filter of all keys `turns` times, with ranges and without, and probes it. Throws
/// Failure if a filter denies a range that holds a key.
void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results);

/// Runs short scans (YCSB E) and a time series on databases with filters of points alone and with
/// ranges, in turns. Throws Failure also if the scans of both find different numbers of keys.
void MeasureWorkloads(const Effort& effort, Job& job);

/// All of it, and databases of every set. Throws Failure on any error and any wrong answer.
void RunExperiment(const Effort& effort, Job& job);

}  // namespace blocksieve::bench::ranges
