#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "bench/support/job.h"

namespace blocksieve::bench::levels {

/// Measures blocks read per lookup as a database grows, with a block cache and filters that have
/// the same memory all the time.
void MeasureGrowth(int flushes, uint64_t keys_per_flush, uint64_t lookups, Job& job);

}  // namespace blocksieve::bench::levels
