#pragma once

#include <filesystem>

#include "bench/read_amp/results.h"

namespace blocksieve::bench::read_amp {

/// Writes results.json into `dir`, created if missing. Returns its path. Throws Failure.
std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::read_amp
