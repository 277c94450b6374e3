#pragma once

#include <rocksdb/table_properties.h>

namespace blocksieve::rocksdb_plugin {

/// Whether the comparator of a table has timestamps that the table itself lacks, which RocksDB may
/// leave out since 8.4.
template <class Properties = rocksdb::TableProperties>
bool LacksItsTimestamps(const Properties& properties) {
  if constexpr (requires { properties.user_defined_timestamps_persisted; }) {
    return properties.user_defined_timestamps_persisted == 0;
  } else {
    return false;
  }
}

}  // namespace blocksieve::rocksdb_plugin
