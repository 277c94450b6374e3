#pragma once

#include <cstdint>
#include <filesystem>

#include "bench/support/results.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::ranges {

/// How much is measured of each workload.
struct WorkloadEffort {
  uint64_t keys = 1'000'000;
  size_t operations = 20'000;      ///< Per turn, cached.
  size_t cold_operations = 1'000;  ///< Per turn, cold.
  unsigned turns = 5;
};

/// Runs short scans (YCSB E) and a time series on databases with filters of points alone and with
/// ranges, in turns. Throws Failure also if the scans of both find different numbers of keys.
void MeasureWorkloads(const WorkloadEffort& effort, const std::filesystem::path& dir,
                      Progress& progress, Results& results);

}  // namespace blocksieve::bench::ranges
