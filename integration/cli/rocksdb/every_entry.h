#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <functional>
#include <memory>
#include <string>

namespace blocksieve::cli {

/// Visits the user key, without timestamp, of every entry of a table that RocksDB lets us see:
/// deletes and superseded versions too, unless the table has merge operands; then each key once,
/// and not those that are deleted. `reader` must have been opened with a merge operator.
/// Returns why some were not seen, or "".
/// Throws Failure where the table cannot be read.
std::string ForEveryEntry(rocksdb::SstFileReader* reader,
                          const rocksdb::TableProperties& properties,
                          const rocksdb::Comparator& comparator,
                          const std::function<void(const rocksdb::Slice& key)>& visit);

/// Not before any user-defined timestamp, in the order of RocksDB's own comparators; empty if keys
/// have none. Iterators of keys with timestamps must be told a time.
std::string LastTime(const rocksdb::Comparator& comparator);

/// So that tables with merge operands can be read whatever operator they are for: merges anything
/// to nothing.
std::shared_ptr<rocksdb::MergeOperator> AnyMergeOperator();

}  // namespace blocksieve::cli
