#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>

namespace blocksieve::rocksdb_plugin {

/// NotSupported for databases on which a scan could return wrong rows, InvalidArgument for read
/// options that it sets itself.
rocksdb::Status CheckScannable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const rocksdb::ReadOptions& read_options);

/// The options that a scan reads with: those of `asked` with which it is known to be right. Later
/// versions of RocksDB have options with which an iterator shows another time than its snapshot's.
rocksdb::ReadOptions ScanReadOptions(const rocksdb::ReadOptions& asked);

/// Bytes at the end of stored values that `db` hides from readers: 4 for a DBWithTTL, else 0.
uint32_t HiddenSuffixBytes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family);

}  // namespace blocksieve::rocksdb_plugin
