#pragma once

#include <filesystem>

#include "bench/levels/results.h"

namespace blocksieve::bench::levels {

/// Writes levels.json into `dir`. Returns its path. Throws Failure.
std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::levels
