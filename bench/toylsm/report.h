#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/support/targets.h"
#include "bench/toylsm/results.h"

namespace blocksieve::bench::toy {

/// The tables for people. `json` is named as the place of the details.
void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out);

/// What the engine is to reach, of what the run measured.
Targets JudgeTargets(const Results& results);

/// One sentence of what filters and value index saved, or that they saved nothing, from the
/// measurements alone. REQUIRES: lookups without and with filters per granule, and a scan.
std::string SavedSentence(const Results& results);

}  // namespace blocksieve::bench::toy
