#pragma once

#include <cstdint>
#include <vector>

#include "bench/levels/results.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench::levels {

/// Flushes: two more than a multiple of four, so that two files stay on level 0. And 4 + 16 + 64 +
/// 256 of them fill four levels of size ratio 4, of which the first holds four flushes: a tree
/// whose last level has just begun has no ratio of 4 there.
struct Effort {
  int flushes = 342;
  uint64_t keys_per_flush = 14'620;
  uint64_t lookups = 3'000'000;
  std::vector<double> bits = {7, kComparedBits, 13};
};

/// Fills a tree per contestant and setting, in two shapes, and counts what absent keys read. Throws
/// Failure and Interrupted.
Results RunExperiment(const Effort& effort, Progress& progress);

}  // namespace blocksieve::bench::levels
