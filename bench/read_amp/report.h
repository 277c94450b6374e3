#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "bench/read_amp/results.h"

namespace blocksieve::read_amp {

/// The tables for people. `json` is named as the place of the details.
void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out);

/// What must be known to judge a comparison with this machine's RocksDB.
std::string DescribeRocksDb();

}  // namespace blocksieve::read_amp
