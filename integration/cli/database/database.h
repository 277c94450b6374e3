#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "integration/cli/database/stored_database.h"
#include "integration/cli/database/table/table_file.h"

// Reads a RocksDB by the path of its directory. Writes nothing; another process may have it open.
// Everything throws Failure.

namespace blocksieve::cli {

/// The files of the database by column family and level; level 0 from the newest to the oldest.
/// Some may be missing or damaged. Of a database that only its own program or a later RocksDB can
/// open, the table files in its directories, without their levels; says so on standard error.
std::vector<FilePlace> ListFiles(const Target& target);

/// The size of these files.
uint64_t FileBytes(const Target& target);

/// The size of the block cache by the stored options: 0 without a cache, otherwise RocksDB's
/// default, which the program may have changed.
uint64_t CacheBytes(const Target& target);

/// The files of a target, each open only while it is visited.
struct TargetFiles {
  Target target;
  std::vector<FilePlace> places;

  /// Files that the last visit missed.
  std::vector<FilePlace> vanished = {};    ///< Removed by another process meanwhile.
  std::vector<std::string> unopened = {};  ///< Errors, one for each damaged or missing file.

  /// Visits all files. `doing` names the work in the progress line.
  void ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit);

  /// The reports of all files, in the order of `places`. If another process removes files
  /// meanwhile, lists the files again and reads the new ones, so that all reports belong to one
  /// list. After five attempts, files of the last list may be missed.
  std::vector<FileReport> ReadReports(const std::string& doing);

  void FailIfUnopened() const;  ///< With all errors.
};

/// Throws UsageError, Failure.
TargetFiles FindFiles(const Target& target);

}  // namespace blocksieve::cli
