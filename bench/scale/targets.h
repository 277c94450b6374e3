#pragma once

#include "bench/scale/results.h"
#include "bench/support/targets.h"

namespace blocksieve::bench::scale {

/// What is to be reached, and what was measured.
Targets JudgeTargets(const Results& results);

}  // namespace blocksieve::bench::scale
