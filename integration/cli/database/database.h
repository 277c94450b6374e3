#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/cli/database/filter_setting.h"
#include "integration/cli/database/table/file_report.h"

// What subcommands ask of a RocksDB by the path of its directory. Nothing is written, and another
// process may have it open. Everything throws Failure.

namespace blocksieve::cli {

/// Fails, saying why, if there is no database.
void CheckDatabase(const std::string& path);

/// Fails if the directory has something other than a database. One that is missing or empty is
/// fine.
void CheckPlaceForDatabase(const std::string& path);

/// The files of the database, by column family and level, those of level 0 from the newest to the
/// oldest. Some may be missing or damaged.
std::vector<FilePlace> ListFiles(const std::string& path);

/// What the options of the database say about the rates of its filters.
RequestedRatesByFamily ReadRequestedRates(const std::string& path);

/// The size of the block cache of a database, as far as its stored options say: 0 without one;
/// otherwise that of the cache which it has unless its program sets another.
uint64_t CacheBytes(const std::string& path);

}  // namespace blocksieve::cli
