#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace blocksieve::cli {

/// Visits the user key, without its timestamp, of every entry of a table that RocksDB lets us see:
/// also of deletes and superseded versions, unless the table has merge operands; then only each key
/// that is not deleted, once. `reader` must have been opened with a merge operator. Returns why
/// some entries were not seen, or "". Throws Failure if the table cannot be read to its end.
std::string ForEveryEntry(rocksdb::SstFileReader* reader,
                          const rocksdb::TableProperties& properties,
                          const rocksdb::Comparator& comparator,
                          const std::function<void(const rocksdb::Slice& key)>& visit);

/// A time that no user-defined timestamp follows in the order of RocksDB's own comparators; empty
/// if keys have none. Iterators over keys with timestamps must be given a time.
std::string LastTime(const rocksdb::Comparator& comparator);

/// Merges anything to nothing, so that tables with merge operands can be read whatever their own
/// operator is.
std::shared_ptr<rocksdb::MergeOperator> AnyMergeOperator();

/// An environment that notes where files are read, because RocksDB's API does not say at which
/// place of a file a key is.
class RecordedReads {
 public:
  RecordedReads();

  /// Otherwise RocksDB's own environment. Lives as long as this.
  rocksdb::Env* env() const { return env_.get(); }

  /// Where the last random-access read began, among all files that were opened by env().
  uint64_t last_offset() const { return *last_offset_; }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> last_offset_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace blocksieve::cli
