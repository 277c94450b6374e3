#pragma once

#include <filesystem>

#include "bench/scale/results.h"

namespace blocksieve::bench::scale {

/// Prints the tables, what was to be reached, and the name of the file with the JSON.
void PrintReport(const Results& results, const std::filesystem::path& json);

}  // namespace blocksieve::bench::scale
