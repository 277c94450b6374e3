#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/maintenance/file_report.h"

// What RocksDB has counted of reads and filters, and the metrics of filters, for `blocksieve
// inspect` and for running processes.

namespace blocksieve::rocksdb_plugin {

/// Counts by name, such as "rocksdb.bloom.filter.useful", as Statistics::getTickerMap gives them.
using Tickers = std::map<std::string, uint64_t>;

/// Data blocks accessed by seeks, in one sorted run each.
struct ObservedSeeks {
  uint64_t useful = 0;
  uint64_t useless = 0;    ///< No value was read.
  uint64_t ruled_out = 0;  ///< Not accessed, as a filter ruled out the seek.
};

struct ObservedReads {
  /// Figures are nullopt if one of their counters was not given; `missing` has its name.
  std::optional<uint64_t> in_memtables;  ///< Keys of Get and MultiGet that memtables had.
  std::optional<uint64_t> lookups;       ///< The others.
  std::optional<uint64_t> found;         ///< Of `lookups`.
  std::optional<uint64_t> seeks;

  /// Probes of filters by lookups. A false positive wastes a read of a data block.
  std::optional<uint64_t> ruled_out;
  std::optional<uint64_t> false_positives;
  std::optional<uint64_t> true_positives;

  std::vector<std::string> missing;

  /// nullopt before RocksDB 8.3, which does not count them.
  std::optional<ObservedSeeks> seek_blocks;
};

ObservedReads ObserveReads(const Tickers& tickers);

/// Adds the metrics of files, by column family and level. `with_rates`: the filters of the reports
/// were read, so that their rates are known.
void AddFiles(const std::vector<FileReport>& files, bool with_rates,
              std::vector<FilterMetric>* metrics);

/// Gives all metrics a label for their database: a host may have several.
void LabelDatabase(const std::string& name, std::vector<FilterMetric>* metrics);

}  // namespace blocksieve::rocksdb_plugin
