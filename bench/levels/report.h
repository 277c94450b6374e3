#pragma once

#include <cstdio>
#include <filesystem>

#include "bench/levels/results.h"
#include "bench/support/targets.h"

namespace blocksieve::bench::levels {

Targets JudgeTargets(const Results& results);

/// What was measured, beside what was to be reached.
void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out);

}  // namespace blocksieve::bench::levels
