#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <memory>
#include <optional>

#include "integration/cli/database/table/captured_filters.h"
#include "integration/cli/database/table/opened_table.h"
#include "integration/cli/database/table/table_lookup.h"

namespace blocksieve::cli {

/// Asks the filters of a table as lookups and seeks do. Where there are several, RocksDB chooses
/// the one to ask. Not thread-safe. Throws Failure if the filters cannot be asked.
class TableFilters {
 public:
  /// `table` must outlive it.
  explicit TableFilters(OpenedTable* table);
  ~TableFilters();
  TableFilters(const TableFilters&) = delete;
  TableFilters& operator=(const TableFilters&) = delete;

  /// Whether a key or its prefix may be in the table; nothing if a lookup asks no filter, as for a
  /// key after the last one.
  std::optional<bool> AskKey(const rocksdb::Slice& key);
  std::optional<bool> AskPrefix(const rocksdb::Slice& key);

  /// Whether the table may have a key in [begin, end). REQUIRES: its extractor is a RangeExtractor.
  std::optional<bool> AskRange(const rocksdb::Slice& begin, const rocksdb::Slice& end);

  /// Whether every lookup and seek that can find the key would go on.
  bool Pass(const rocksdb::Slice& key);

 private:
  TableLookup& Lookup();
  std::optional<bool> AnswerOf(const rocksdb::Status& lookup);

  OpenedTable* const table_;
  std::unique_ptr<rocksdb::FilterBitsReader> only_filter_;  // null if there are several
  CapturedFilters asked_;                                   // by lookup_
  std::unique_ptr<TableLookup> lookup_;
};

}  // namespace blocksieve::cli
