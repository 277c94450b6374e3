#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::cli {

struct LoadTarget {
  std::string path;
  std::vector<Column> columns;  ///< To be indexed, beside those that the database has already.
  uint64_t granule_rows = kDefaultGranuleRows;
  double target_fpr = 0;  ///< Of the indexes.
};

/// A RocksDB that rows are loaded into: its default column family, indexed.
class LoadedDatabase {
 public:
  /// Opens the database, or creates it. Throws Failure, UsageError.
  explicit LoadedDatabase(const LoadTarget& target);
  ~LoadedDatabase();
  LoadedDatabase(const LoadedDatabase&) = delete;
  LoadedDatabase& operator=(const LoadedDatabase&) = delete;

  /// What became of the indexes that the database had, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  // All below throw Failure.

  /// The last one of equal keys wins. Rows last once Flush has returned.
  void Put(std::string_view key, std::string_view value);
  void Flush();

  /// Rewrites all files into as few as RocksDB makes of them, each with the indexes.
  /// Returns false if it was interrupted.
  bool Compact();

  SkipIndexSummary Indexes() const;

 private:
  void WriteBatch();
  void Check(const rocksdb::Status& status) const;

  const std::string path_;
  std::vector<std::string> notes_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  rocksdb::WriteBatch batch_;
};

}  // namespace blocksieve::cli
