#pragma once

// The pages' programs call this. Users write their own: which pointer rocksdb::DB::Open sets
// depends on the version.

#include <cstdlib>

#include "integration/rocksdb/compat/open_db.h"

inline std::unique_ptr<rocksdb::DB> Open(const rocksdb::Options& options, const char* path) {
  std::unique_ptr<rocksdb::DB> db;
  if (!blocksieve::rocksdb_plugin::OpenDb(options, path, &db).ok()) std::abort();
  return db;
}
