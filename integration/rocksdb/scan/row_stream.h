#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

namespace blocksieve::rocksdb_plugin {

/// Matching rows in scan order. Stands at the first after Start().
class RowStream {
 public:
  virtual ~RowStream() = default;

  virtual void Start() = 0;
  virtual bool Valid() const = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  virtual rocksdb::Slice key() const = 0;
  virtual rocksdb::Slice value() const = 0;
  virtual rocksdb::Status status() const = 0;
};

}  // namespace blocksieve::rocksdb_plugin
