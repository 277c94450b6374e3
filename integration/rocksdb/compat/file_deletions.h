#pragma once

#include <rocksdb/db.h>

// DB::EnableFileDeletions takes an argument until RocksDB 9.0.

namespace blocksieve::rocksdb_plugin {

template <class Db>
rocksdb::Status EnableFileDeletions(Db* db) {
  // The default would enable them for everybody who does not want them.
  if constexpr (requires { db->EnableFileDeletions(false); }) {
    return db->EnableFileDeletions(false);
  } else {
    return db->EnableFileDeletions();
  }
}

/// While one of these lives, the database deletes none of its files. One that is opened read-only
/// never does.
class NoFileDeletions {
 public:
  explicit NoFileDeletions(rocksdb::DB* db) : db_(db), status_(db->DisableFileDeletions()) {
    is_needed_ = !status_.IsNotSupported();
    if (!is_needed_) status_ = rocksdb::Status::OK();
  }
  NoFileDeletions(const NoFileDeletions&) = delete;
  NoFileDeletions& operator=(const NoFileDeletions&) = delete;
  ~NoFileDeletions() {
    if (is_needed_ && status_.ok()) EnableFileDeletions(db_).PermitUncheckedError();
  }

  const rocksdb::Status& status() const { return status_; }

 private:
  rocksdb::DB* const db_;
  rocksdb::Status status_;
  bool is_needed_ = true;
};

}  // namespace blocksieve::rocksdb_plugin
