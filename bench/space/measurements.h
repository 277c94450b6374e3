#pragma once

#include <cstdint>

#include "blocksieve/filter_kind.h"

namespace blocksieve::bench::space {

struct SpaceMeasurement {
  double bits_per_key = 0;  ///< All bytes of the block, footer included.
  double fpr = 0;           ///< Measured, with keys that were never added.

  /// Bits per key over log2(1 / fpr), which no filter can do without.
  double OverLimit() const;
};

/// Means over as many filters of `num_keys` keys as `num_probes` are worth. Throws Failure.
SpaceMeasurement MeasureSpace(FilterKind kind, double target_fpr, uint64_t num_keys,
                              uint64_t num_probes);

/// Bytes per key that building takes at its peak beyond the finished filter: the growth of the
/// resident set of a process that does nothing else, hashes included. Throws Failure.
double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys);

}  // namespace blocksieve::bench::space
