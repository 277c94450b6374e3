#pragma once

#include <filesystem>

#include "bench/skip/results.h"

namespace blocksieve::bench::skip {

/// Writes skip.json into `dir`, created if missing. Returns its path. Throws Failure.
std::filesystem::path WriteJson(const Results& results, const std::filesystem::path& dir);

}  // namespace blocksieve::bench::skip
