#pragma once

#include <filesystem>

#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// Writes scale.json into `dir`. Returns its path. Throws Failure.
std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::scale
