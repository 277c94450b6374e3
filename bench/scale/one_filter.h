#pragma once

#include <cstdint>

#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// Builds one filter of `num_keys` keys of 16 bytes in a process of its own, asks it for every one
/// of them, and probes absent keys. Throws Failure.
FilterResult MeasureFilter(FilterKind kind, double target_fpr, uint64_t num_keys);

}  // namespace blocksieve::bench::scale
