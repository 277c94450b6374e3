#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::rocksdb_plugin {

/// Memory outside of a cache that counts as if it were inside, so that a block cache makes room for
/// it: entries that hold nothing, pinned, and charged with 256 KiB each. Of rocksdb::Cache only
/// what is public. Not thread-safe.
class CacheReservation {
 public:
  /// Without a cache nothing is charged.
  explicit CacheReservation(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}
  CacheReservation(const CacheReservation&) = delete;
  CacheReservation& operator=(const CacheReservation&) = delete;
  ~CacheReservation() { Set(0); }

  /// Charges so many bytes, rounded up. False if the cache refuses (strict_capacity_limit); then it
  /// is charged with as much as it took.
  bool Set(uint64_t bytes);

 private:
  bool Add();

  const std::shared_ptr<rocksdb::Cache> cache_;
  std::vector<rocksdb::Cache::Handle*> handles_;
};

}  // namespace blocksieve::rocksdb_plugin
