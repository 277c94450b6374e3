#pragma once

#include <cstdint>

#include "bench/support/inputs.h"
#include "bench/support/job.h"

namespace blocksieve::bench::read_amp {

/// How much is measured.
struct Effort {
  unsigned rounds = 5;             ///< Each fills and measures every contestant anew.
  uint64_t lookups = 100'000;      ///< Per pass, of each kind.
  double max_cold_seconds = 1;     ///< A cold pass ends after this even with lookups left.
  unsigned timed_warm_passes = 3;  ///< Per round; cold passes are timed and counted at once.
  double no_new_round_after = 0;   ///< Seconds; no round begins that would end later. 0: no limit.
};

/// Fills and measures all contestants, one database at a time, in rounds that begin with another
/// contestant each time: on a machine with changing load none has the quiet minutes to itself.
/// Throws Failure on any error, any wrong answer, and if a filter never rejected anything.
void RunExperiment(const Input& input, double target_fpr, const Effort& effort, Job& job);

}  // namespace blocksieve::bench::read_amp
