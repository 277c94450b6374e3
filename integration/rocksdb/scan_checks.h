#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>

namespace blocksieve::rocksdb_plugin {

/// NotSupported for what a scan cannot be right on, InvalidArgument for read options that it sets
/// itself.
rocksdb::Status CheckScannable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const rocksdb::ReadOptions& read_options);

/// Bytes at the end of stored values that `db` hides from readers: 4 for a DBWithTTL, else 0.
uint32_t HiddenSuffixBytes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family);

}  // namespace blocksieve::rocksdb_plugin
