#pragma once

#include <filesystem>

#include "bench/toylsm/results.h"

namespace blocksieve::bench::toy {

/// Writes toylsm.json into `dir`, created if missing. Returns its path. Throws Failure.
std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::toy
