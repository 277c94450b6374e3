#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/skip/results.h"

namespace blocksieve::bench::skip {

/// The tables for people. `json` is named as the place of the details.
void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out);

/// One sentence of what the index saved, or that it saved nothing, from the measurements alone.
/// REQUIRES: a scan of a clustered column.
std::string SavedSentence(const Results& results);

}  // namespace blocksieve::bench::skip
