#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>
// What rocksdb::Cache can do is in a header of its own in later versions.
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#endif

#include <functional>

// Small differences between versions of RocksDB.

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

using TableFilter = std::function<bool(const rocksdb::TableProperties&)>;

// ReadOptions::table_filter is a function, since RocksDB 11.9 a pointer to one.
inline void SetTableFilter(const TableFilter& filter, TableFilter* option) { *option = filter; }
inline void SetTableFilter(const TableFilter& filter, const TableFilter** option) {
  *option = &filter;
}

/// Lets iterators made with `options` read only the tables that `filter` admits. It must outlive
/// them.
inline void SetTableFilter(const TableFilter& filter, rocksdb::ReadOptions* options) {
  SetTableFilter(filter, &options->table_filter);
}

}  // namespace blocksieve::rocksdb_plugin
