#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"  // FileProgress
#include "blocksieve/status.h"

/// \file
/// Maintenance of the filters of an open database. The command `blocksieve` does the same for
/// databases that no process has open.

namespace blocksieve {

/// Options of RewriteFilters.
struct RewriteFiltersOptions {
  /// Mean rate at which files are read and written, in bytes of old files per second; 0: no limit.
  /// Files are rewritten as a whole, and RewriteFilters waits after each one.
  /// DBOptions::rate_limiter also limits the rate within a file.
  uint64_t bytes_per_second = 0;

  std::optional<uint32_t> level = std::nullopt;  ///< Only files of this level.
  bool only_unfiltered = false;                  ///< Only files without a working filter.
};

/// Rewrites the files whose filters would improve under their column family's current filter
/// policy, one at a time in the calling thread, each on its level. In each family, those that save
/// most reads per lookup come first, then those that save most memory. A filter improves if it
/// wastes at least 5 % fewer reads or takes at least 5 % less memory, or if its range filters or
/// prefixes change; with wasted_reads or bits_per_key, if reads and memory together improve by 5 %.
/// Files without the block index of Enable, or with one of other options, are rewritten, too. Files
/// for which RocksDB builds no better filter, such as with too small a max_build_bytes or in the
/// last level under optimize_filters_for_hits, stay as they are, or are rewritten once; the info
/// log says how many and why.
///
/// Reads the filters of all files first. Reads and writes may continue. Memtables are not flushed,
/// as a flush builds the new filters. Rewritten files stay, so a call after a stop continues where
/// it ended. `progress`, if set, is called before and after each file, and ten times a second while
/// RewriteFilters waits; false stops. `column_families`: as for RebuildSkipIndexes.
///
/// Errors: InvalidArgument with neither blocksieve's filter policy nor its block index, or with
/// wasted_reads or bits_per_key without the listener (NewListener); NotSupported under FIFO
/// compaction, or if the loaded RocksDB would not build these filters; Incomplete if `progress`
/// returned false, other compactions held a file for ten minutes, or new files that would improve
/// were written faster than files were rewritten; else those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status RewriteFilters(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
    const RewriteFiltersOptions& options = {},
    const std::function<bool(const FileProgress&)>& progress = nullptr);

/// Finds what is wrong with filters and indexes that RocksDB does not report, for instance after
/// opening a database. Appends sentences to `*problems`, which name the column family if the list
/// has several: no filter policy, although an OPTIONS file of the database names one of blocksieve,
/// as happens if the plug-in was not loaded or the name is misspelt; files without filters, if
/// OPTIONS name any policy; filters that the policy in force does not read, or that rule out
/// nothing; stock filters built instead, because RocksDB is of another version; a goal by level
/// without the listener; options that keep range filters from working; a value_suffix_bytes other
/// than the database's; files without the block index of the options, and what their range filters
/// need until they have it. Writes them, and the policy options in force, to the info log.
///
/// Reads table properties, which opens tables that are not open; the block indexes of all files, if
/// the options have one; and filters if properties do not tell who reads them (those of RocksDB
/// before 7.0, and blocksieve's under another policy), or if the file lacks the block index and may
/// have range filters. `column_families`: as for RebuildSkipIndexes. Errors: those of RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status CheckFilters(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
    std::vector<std::string>* problems);

/// A value of a metric. OPERATING.md lists the metrics.
struct FilterMetric {
  const char* name = "";    ///< Such as "blocksieve_filter_probes_total".
  const char* type = "";    ///< "counter" or "gauge".
  const char* help = "";    ///< One sentence for people.
  std::string labels = {};  ///< Such as `result="false_positive"`; may be empty.
  double value = 0;         ///< Cumulative if it is a counter.
};

/// The metrics of the files of these column families, and the counters of lookups, seeks and
/// filters of all column families, if the database has DBOptions::statistics. Reads table
/// properties, as CheckFilters does. `column_families`: as for RebuildSkipIndexes. Errors: those of
/// RocksDB.
BLOCKSIEVE_EXPORT rocksdb::Status GetFilterMetrics(
    rocksdb::DB* db, const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
    std::vector<FilterMetric>* metrics);

/// Metrics in Prometheus' text format.
BLOCKSIEVE_EXPORT std::string FilterMetricsText(const std::vector<FilterMetric>& metrics);

}  // namespace blocksieve
