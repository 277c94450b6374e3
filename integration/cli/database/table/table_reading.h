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

/// Visits the user key, without its timestamp, of every entry of a table, including deletes and
/// older versions. In a table with merge operands, visits each existing key once instead. Returns
/// why some entries were not visited, or "". Throws Failure if the table cannot be read to its end.
/// REQUIRES: `reader` has a merge operator.
std::string ForEveryEntry(rocksdb::SstFileReader* reader,
                          const rocksdb::TableProperties& properties,
                          const rocksdb::Comparator& comparator,
                          const std::function<void(const rocksdb::Slice& key)>& visit);

/// The latest timestamp in the order of RocksDB's comparators; empty if keys have none. Iterators
/// over keys with timestamps require a time.
std::string LastTime(const rocksdb::Comparator& comparator);

/// Merges anything to an empty value, so that tables with any merge operator can be read.
std::shared_ptr<rocksdb::MergeOperator> AnyMergeOperator();

/// An Env that records the offsets of reads, as RocksDB's API does not return the offset of a key.
class RecordedReads {
 public:
  RecordedReads();

  /// RocksDB's default Env otherwise. Owned by this object.
  rocksdb::Env* env() const { return env_.get(); }

  /// Offset of the last random-access read of any file opened by env().
  uint64_t last_offset() const { return *last_offset_; }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> last_offset_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace blocksieve::cli
