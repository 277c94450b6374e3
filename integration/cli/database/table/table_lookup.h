#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>

#include <memory>
#include <optional>
#include <string>

namespace blocksieve::cli {

/// A database in memory with a single real table file, which is only read. Lookups choose and probe
/// filter partitions as in any database. Not thread-safe.
class TableLookup {
 public:
  /// `options` has the comparator, prefix extractor and table factory of the file.
  static rocksdb::Status Open(const std::string& path, const rocksdb::Options& options,
                              const rocksdb::TableProperties& properties,
                              std::unique_ptr<TableLookup>* lookup);
  ~TableLookup();

  /// OK whether the key is found or not.
  rocksdb::Status Get(const rocksdb::Slice& key);

  /// Seeks within [begin, end), or without an end, with the prefix of the key.
  rocksdb::Status Seek(const rocksdb::Slice& begin, const std::optional<rocksdb::Slice>& end = {});

 private:
  TableLookup() = default;

  std::unique_ptr<rocksdb::Env> memory_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
  std::string last_time_;
  rocksdb::Slice until_;  // last_time_, which read_options_ refer to
  rocksdb::ReadOptions read_options_;
  rocksdb::Slice end_;                               // which the second of these refers to
  std::unique_ptr<rocksdb::Iterator> iterators_[2];  // without and with an end
};

}  // namespace blocksieve::cli
