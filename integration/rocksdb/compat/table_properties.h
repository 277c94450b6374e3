#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/table_properties.h>

#include <memory>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// RocksDB writes and reads a block together with a compression type and a checksum after it.
inline constexpr uint64_t kBlockTrailerBytes = 5;

/// Stands for the properties of a table that has none, such as LevelDB's.
const std::shared_ptr<const rocksdb::TableProperties>& NoProperties();

inline bool LacksProperties(const rocksdb::TableProperties& properties) {
  return &properties == NoProperties().get();
}

/// Where the table is that RocksDB lists as `path`: LevelDB's have the suffix .ldb.
std::string PathOfTable(const std::string& path, rocksdb::FileSystem* file_system);

/// GetPropertiesOfAllTables, which returns null for an open table without properties, and fails
/// because of a closed one.
rocksdb::Status ReadTableProperties(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                    rocksdb::TablePropertiesCollection* tables);

}  // namespace blocksieve::rocksdb_plugin
