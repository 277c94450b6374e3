#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"
#include "integration/cli/database/open_database.h"

namespace blocksieve::cli {

struct LoadTarget {
  std::string path;
  std::vector<Column> columns;  ///< To be indexed, in addition to those that the database indexes.
  uint64_t granule_rows = 0;    ///< 0: the default.
  double target_fpr = SkipIndexBuilderOptions().target_fpr;  ///< For the indexes.

  /// Limit for the index of one file, in bytes; nothing: the default.
  std::optional<uint64_t> max_index_bytes;

  /// Key filters answer for ranges with this rate; nothing: as the database has it so far.
  std::optional<double> range_fpr;
};

/// A database whose default column family rows are loaded into. Not thread-safe. Everything throws
/// Failure.
class LoadedDatabase {
 public:
  /// Opens the database, or creates it in a directory that is missing or empty. Throws UsageError,
  /// too.
  explicit LoadedDatabase(const LoadTarget& target);

  /// What became of the indexes that the database had, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Overwrites an earlier row with the same key. Rows are durable once Flush has returned.
  void Put(std::string_view key, std::string_view value);
  void Flush();

  /// The database had no rows when it was opened.
  bool is_new() const { return is_new_; }

  /// The number of rows, counted from the first that was put, that no crash can lose: all of them
  /// once Flush has returned, fewer after a failure.
  uint64_t rows_durable() const;

  /// The rows of the whole database, if known without reading all of it, as after Compact.
  std::optional<uint64_t> NumRows();

  /// Rewrites all files, into as few as RocksDB makes of them, with the indexes. Returns false if
  /// it was interrupted. `progress` is called now and then with the bytes that are written, and an
  /// estimate of all that will be.
  using CompactionProgress = std::function<void(uint64_t done, uint64_t all)>;
  bool Compact(const CompactionProgress& progress);

  SkipIndexSummary Indexes() const;

 private:
  class FlushListener;

  Database Open(const LoadTarget& target);
  void WriteBatch();
  void Check(const rocksdb::Status& status) const;

  const std::string path_;
  std::vector<std::string> notes_;
  const std::shared_ptr<FlushListener> flushes_;
  const Database db_;
  rocksdb::WriteBatch batch_;
  bool is_new_ = false;
  uint64_t first_sequence_ = 0;  // the last one before the first Put, each of which takes one
};

}  // namespace blocksieve::cli
