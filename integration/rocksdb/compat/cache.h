#pragma once

// What rocksdb::Cache can do is in a header of its own since RocksDB 8.2.

#include <rocksdb/cache.h>
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#endif
