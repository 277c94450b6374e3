#pragma once

#include <cstdio>
#include <filesystem>

#include "bench/read_amp/results.h"

namespace blocksieve::bench::read_amp {

/// The tables for people. `json` is named as the place of the details.
void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out);

}  // namespace blocksieve::bench::read_amp
