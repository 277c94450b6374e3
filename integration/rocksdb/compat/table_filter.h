#pragma once

#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>

#include <functional>

// ReadOptions::table_filter is a function, since RocksDB 11.9 a pointer to one.

namespace blocksieve::rocksdb_plugin {

using TableFilter = std::function<bool(const rocksdb::TableProperties&)>;

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
