#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/ranges/datasets.h"
#include "bench/support/job.h"

namespace blocksieve::bench::ranges {

/// Amount of measuring.
struct Effort {
  uint64_t keys = 1'000'000;           ///< Integers.
  uint64_t structured_keys = 500'000;  ///< Of each kind.
  size_t seeks = 5'000;                ///< Of each kind.
  size_t lookups = 20'000;             ///< Per turn.
  unsigned turns = 7;
  unsigned lookup_turns = 21;  ///< Lookups differ by a few percent at most.
  unsigned filter_turns = 5;
  size_t operations = 20'000;      ///< Per turn of the workload, cached.
  size_t cold_operations = 1'000;  ///< The same, cold.
};

/// Builds filters of all keys with ranges, with prefixes and without, and looks up seeks in them.
/// Throws Failure if a filter denies a range that holds a key.
void MeasureFilters(const Dataset& dataset, const Effort& effort, Job& job);

/// Runs short scans (YCSB E) on databases with point filters alone and with range filters, in
/// turns. Also throws Failure if their scans find different numbers of keys.
void MeasureWorkload(const Effort& effort, Job& job);

/// Runs everything above, and measures databases of all sets of keys. Throws Failure on any error
/// and any wrong answer.
void RunExperiment(const Effort& effort, Job& job);

}  // namespace blocksieve::bench::ranges
