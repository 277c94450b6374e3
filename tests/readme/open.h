#pragma once

// What programs of the pages call, and each user writes for the RocksDB at hand.

#include <cstdlib>

#include "integration/rocksdb/compat/open_db.h"

inline std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const char* path) {
  std::unique_ptr<rocksdb::DB> db;
  if (!blocksieve::rocksdb_plugin::OpenDb(options, path, &db).ok()) std::abort();
  return db;
}
