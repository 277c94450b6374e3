#pragma once

#include <cstdint>

#include "blocksieve/filter_kind.h"

namespace blocksieve::bench::space {

/// Bytes per key that building takes at its peak beyond the finished filter: the growth of the
/// resident set of a process that does nothing else, hashes included. Throws Failure.
double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys);

}  // namespace blocksieve::bench::space
