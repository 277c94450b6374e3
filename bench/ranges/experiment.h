#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/ranges/range_queries.h"
#include "bench/ranges/structured_keys.h"
#include "bench/support/job.h"
#include "bench/support/results.h"

namespace blocksieve::bench::ranges {

/// Amount of measuring.
struct Effort {
  // Key sets of databases and of single filters.
  std::vector<std::string> sets = {kIntegers, kUsers, kTenantTime, kPaths};
  std::vector<std::string> filter_sets = sets;

  uint64_t keys = 1'000'000;         ///< In each database.
  uint64_t filter_keys = 1'000'000;  ///< In each filter.
  size_t ranges = 10'000;            ///< Of each kind.
  size_t timed_ranges = 8'000;       ///< Per turn, over all lengths.
  size_t cold_ranges = 400;
  size_t lookups = 20'000;  ///< Per turn.
  unsigned turns = 7;
  unsigned lookup_turns = 21;  ///< Lookups differ by a few percent at most.
  unsigned filter_turns = 5;

  uint64_t structured_keys = 500'000;  ///< Of each kind.
  size_t prefix_seeks = 5'000;         ///< Of each kind.

  size_t operations = 20'000;      ///< Per turn of a workload, cached.
  size_t cold_operations = 1'000;  ///< Per turn of a workload, cold.
  unsigned workload_turns = 5;
};

/// The FPR at which sizes and speeds of filters are compared.
inline constexpr double kComparedRangeFpr = 0.015;

/// Builds a filter of all keys `turns` times, with a range filter and without, and probes it.
/// Throws Failure if a filter denies a range that holds a key.
void MeasureFilter(const KeySet& set, const std::vector<RangeQueries>& queries, unsigned turns,
                   Results& results);

/// The same for the filter of one run of structured keys, of each kind, with prefixes and without.
void MeasureFilterWithPrefixes(const StructuredKeys& set, unsigned turns, Results& results);

/// Runs short scans (YCSB E) and a time series on databases with point filters alone and with range
/// filters, in turns. Also throws Failure if their scans find different numbers of keys.
void MeasureWorkloads(const Effort& effort, Job& job);

/// Builds databases of structured keys with prefix filters and without, and seeks in them. Throws
/// Failure on any wrong answer.
void MeasurePrefixes(const Effort& effort, Job& job);

/// Runs everything above, and measures databases of every set. Throws Failure on any error and any
/// wrong answer.
void RunExperiment(const Effort& effort, Job& job);

}  // namespace blocksieve::bench::ranges
