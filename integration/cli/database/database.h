#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/table/file_report.h"

// Reads a RocksDB by the path of its directory. Writes nothing; another process may have it open.
// Everything throws Failure.

namespace blocksieve::cli {

/// Fails if `path` is not a database.
void CheckDatabase(const std::string& path);

/// Fails if the database has no such column family.
void CheckFamily(const std::string& path, const std::string& family);

/// Throws UsageError if the column families of the database have fewer levels.
void CheckLevel(const std::string& path, std::optional<uint64_t> level);

/// Fails if `path` is neither a database nor an empty or missing directory.
void CheckPlaceForDatabase(const std::string& path);

/// The files of the database by column family and level; level 0 from the newest to the oldest.
/// Some may be missing or damaged.
std::vector<FilePlace> ListFiles(const std::string& path);

/// The paths of skip indexes whose SSTs do not exist: RocksDB deletes only the SSTs.
std::vector<std::string> OrphanIndexes(const std::string& path);

/// By column family; families without blocksieve's policy are missing.
using RequestedRatesByFamily = std::map<std::string, FilterPolicyOptions>;

/// The filter rates that the options of the database request.
RequestedRatesByFamily ReadRequestedRates(const std::string& path);

/// The size of the block cache by the stored options: 0 without a cache, otherwise RocksDB's
/// default, which the program may have changed.
uint64_t CacheBytes(const std::string& path);

}  // namespace blocksieve::cli
