#pragma once

#include <rocksdb/db.h>

#include <map>
#include <string>
#include <vector>

#include "integration/rocksdb/maintenance/file_report.h"

// The files of a column family of an open database.

namespace blocksieve::rocksdb_plugin {

/// Reads the filters of each file once, however often Read is called: files do not change.
class LiveFiles {
 public:
  /// `reads_filters`: false if what table properties say of filters is enough.
  explicit LiveFiles(bool reads_filters = true) : reads_filters_(reads_filters) {}

  /// Reads the present files. Errors: those of RocksDB.
  rocksdb::Status Read(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family);

  /// In the order of levels; level 0 from the newest to the oldest. Files that were written while
  /// Read listed them may be missing.
  const std::vector<FileReport>& reports() const { return reports_; }

 private:
  const bool reads_filters_;
  std::map<std::string, FilterReport> known_;  // by path
  std::vector<FileReport> reports_;
};

}  // namespace blocksieve::rocksdb_plugin
