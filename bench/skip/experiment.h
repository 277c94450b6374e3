#pragma once

#include <cstdint>
#include <filesystem>

#include "bench/skip/effort.h"
#include "bench/skip/results.h"
#include "bench/support/inputs.h"
#include "bench/support/progress.h"

namespace blocksieve::bench::skip {

/// Measures everything, on the input's rows and on synthetic ones. `value_name`: what the first
/// field of the input's values is. Throws Failure on any error and any wrong answer.
Results RunExperiment(const Input& input, std::string_view value_name, const Effort& effort,
                      uint64_t seed, const std::filesystem::path& db_dir, Progress& progress);

}  // namespace blocksieve::bench::skip
