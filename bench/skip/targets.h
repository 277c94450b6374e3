#pragma once

#include "bench/skip/results.h"
#include "bench/support/targets.h"

namespace blocksieve::bench::skip {

/// What the skip index is to reach, of what the run measured.
Targets JudgeTargets(const Results& results);

}  // namespace blocksieve::bench::skip
