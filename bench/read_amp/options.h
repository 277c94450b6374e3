#pragma once

#include <cstdint>

#include "bench/support/job.h"

namespace blocksieve::bench::read_amp {

/// The command line: what every job has, and what only this one has.
struct RunOptions : JobOptions {
  uint64_t value_bytes = 100;
  double target_fpr = 0.01;
  uint64_t repeat = 0;   ///< 0: as many rounds as suit the kind of run.
  uint64_t lookups = 0;  ///< 0: as many as suit the kind of run.
};

/// Throws Exit.
RunOptions ParseCommandLine(int argc, const char* const* argv);

}  // namespace blocksieve::bench::read_amp
