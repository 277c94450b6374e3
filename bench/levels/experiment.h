#pragma once

#include <cstdint>
#include <vector>

#include "bench/levels/results.h"
#include "bench/support/progress.h"

namespace blocksieve::bench::levels {

struct Effort {
  int flushes = 162;  ///< two more than a multiple of four: two files stay on level 0
  uint64_t keys_per_flush = 30'864;
  uint64_t lookups = 3'000'000;
  std::vector<double> bits = {7, kComparedBits, 13};
};

/// Fills a tree per contestant and setting, in two shapes, and counts what absent keys read. Throws
/// Failure and Interrupted.
Results RunExperiment(const Effort& effort, Progress& progress);

}  // namespace blocksieve::bench::levels
