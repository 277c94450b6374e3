#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>

#include <memory>
#include <string>

namespace blocksieve::cli {

/// A database in memory with a single table, a file that stays where it is and is only read.
/// Lookups in it go the way of lookups in any database: they choose the partition of a filter, and
/// ask it. Not thread-safe.
class TableLookup {
 public:
  /// `options` say how the file is read: comparator, prefix extractor, table factory.
  static rocksdb::Status Open(const std::string& path, const rocksdb::Options& options,
                              const rocksdb::TableProperties& properties,
                              std::unique_ptr<TableLookup>* lookup);
  ~TableLookup();

  /// OK whether the key is found or not.
  rocksdb::Status Get(const rocksdb::Slice& key);

  /// By the prefix of the key.
  rocksdb::Status Seek(const rocksdb::Slice& key);

  /// By the range [begin, end).
  rocksdb::Status Seek(const rocksdb::Slice& begin, const rocksdb::Slice& end);

 private:
  TableLookup() = default;

  std::unique_ptr<rocksdb::Env> memory_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* family_ = nullptr;
  std::string last_time_;
  rocksdb::Slice until_;  // last_time_, which read_options_ refer to
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  rocksdb::Slice end_;  // which range_iterator_ refers to
  std::unique_ptr<rocksdb::Iterator> range_iterator_;
};

}  // namespace blocksieve::cli
