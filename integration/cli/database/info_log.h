#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/table/table_file.h"
#include "integration/rocksdb/maintenance/metrics.h"

// What RocksDB says about a database in its info log and its statistics, without the database.
// Everything throws Failure.

namespace blocksieve::cli {

using rocksdb_plugin::Tickers;

/// Reads counters wherever a name such as rocksdb.number.keys.read stands before a number, as in
/// the text of Statistics::ToString and in JSON with members of these names.
Tickers ReadStatistics(const std::string& path);

/// The tree and the counters of a database.
struct InfoLog {
  std::string database;  ///< Path; empty if unknown.

  /// The files of the last dump, with their keys, sizes and filters estimated from the files that
  /// RocksDB created on their level. In the order of ListFiles.
  std::vector<FileReport> files;

  /// Families of the last dump whose files the logs do not show being written: not in `files`.
  std::vector<std::string> unknown_families;

  uint64_t num_bytes = 0;               ///< Size of the files of all families.
  std::optional<uint64_t> cache_bytes;  ///< Capacity of the largest block cache; 0: none.
  Tickers tickers;                      ///< Sums over all openings; empty without statistics.
};

/// Reads the info logs of a database, in any order. Fails if they have no dump of statistics with
/// files.
InfoLog ReadInfoLogs(const std::vector<std::string>& paths);

}  // namespace blocksieve::cli
