#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/support/results.h"

namespace blocksieve::bench {

/// Keys of the filters that are measured.
inline constexpr uint64_t kSizes[] = {10'000, 1'000'000, 10'000'000};

/// Shows aggregates on the console and keeps what each repetition measured.
class Collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Times, space and rate of what was run, and the ratios of which both sides were.
  Results ToResults() const;

 private:
  using Turns = std::map<std::string, std::vector<double>>;  // by name of the benchmark

  void AddTimes(const std::string& name, Results& results) const;

  Stopwatch stopwatch_;
  Turns nanoseconds_;
  Turns bits_per_key_;
  Turns fpr_;
};

}  // namespace blocksieve::bench
