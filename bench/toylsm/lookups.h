#pragma once

#include <cstdint>

#include "bench/support/job.h"
#include "bench/support/rows.h"

namespace blocksieve::bench::toy {

/// Writes the rows once per configuration of key filters, in random order, and looks up as many
/// absent as present keys. Throws Failure on any error, any wrong answer, and if the engine's
/// counts do not add up.
void MeasureLookups(const Rows& rows, uint64_t lookups, Job& job);

}  // namespace blocksieve::bench::toy
