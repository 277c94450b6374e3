#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>
#include <type_traits>

// rocksdb::DB::Open returns a DB*; since RocksDB 9.11 also a unique_ptr, and since 11.0 only that.

namespace blocksieve::rocksdb_plugin {

template <class Pointer>
concept OpensInto = requires(const rocksdb::Options& options, const std::string& path,
                             Pointer* db) {
  rocksdb::DB::Open(options, path, db);
};

/// The type that the functions of rocksdb::DB return for an opened database.
using OpenedDb = std::conditional_t<OpensInto<std::unique_ptr<rocksdb::DB>>,
                                    std::unique_ptr<rocksdb::DB>, rocksdb::DB*>;

/// Opens a database with `open`, a function of an OpenedDb*. `*db` is null unless it succeeds.
template <class Open>
rocksdb::Status OpenDb(std::unique_ptr<rocksdb::DB>* db, const Open& open) {
  OpenedDb opened = nullptr;
  rocksdb::Status status = open(&opened);
  // NOLINTNEXTLINE(performance-move-const-arg): a unique_ptr in newer versions.
  *db = std::unique_ptr<rocksdb::DB>(std::move(opened));
  return status;
}

/// rocksdb::DB::Open
inline rocksdb::Status OpenDb(const rocksdb::Options& options, const std::string& path,
                              std::unique_ptr<rocksdb::DB>* db) {
  return OpenDb(db, [&](OpenedDb* opened) { return rocksdb::DB::Open(options, path, opened); });
}

}  // namespace blocksieve::rocksdb_plugin
