#pragma once

#include <cstdint>

#include "bench/support/inputs.h"
#include "bench/support/job.h"

namespace blocksieve::bench::read_amp {

/// Amount of measuring.
struct Effort {
  unsigned rounds = 5;             ///< Each fills and measures a new database of every contestant.
  uint64_t lookups = 100'000;      ///< Per pass, of each kind.
  double max_cold_seconds = 1;     ///< Time limit of a cold pass.
  unsigned timed_warm_passes = 3;  ///< Per round. A cold pass is timed and counted at once.
  double no_new_round_after = 0;   ///< Seconds: no round begins that would end later. 0: no limit.
};

/// Fills and measures all contestants, one database at a time. Each round begins with another
/// contestant, so that a changing load on the machine favours none. Throws Failure on any error,
/// any wrong answer, and if a filter never rejected anything.
void RunExperiment(const Input& input, double target_fpr, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::read_amp
