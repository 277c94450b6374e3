#pragma once

#include <cstdint>

#include "bench/scale/model.h"
#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// Builds the filters of every file of the planned tree, asks each for all of its keys, and looks
/// absent keys up: of each level, in the file whose range they are in. In a process of its own.
/// Throws Failure.
TreeResult MeasureTree(uint64_t num_keys, const Asking& asking);

}  // namespace blocksieve::bench::scale
