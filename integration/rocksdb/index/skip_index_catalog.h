#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "integration/rocksdb/compat/cache_reservation.h"
#include "integration/rocksdb/index/file_index.h"

namespace blocksieve::rocksdb_plugin {

/// Opened indexes, so that scans need not check and decompress them again. Least recently used ones
/// go when `capacity_bytes` are exceeded. Thread-safe.
class SkipIndexCatalog {
 public:
  explicit SkipIndexCatalog(uint64_t capacity_bytes)
      : capacity_bytes_(capacity_bytes),
        reservation_(std::make_unique<CacheReservation>(nullptr)) {}

  /// From now on. `charged`: as in SkipIndexCacheOptions.
  void Configure(uint64_t capacity_bytes, std::shared_ptr<rocksdb::Cache> charged);

  /// The one of this process: identities are unique among databases, too.
  static SkipIndexCatalog& Default();

  /// The index of `sst`, with these columns at least.
  std::shared_ptr<const FileIndex> Open(
      const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst = {},
      std::span<const Column> columns = {});

  /// Another one took its place.
  void Forget(const FileIdentity& identity);

  uint64_t used_bytes() const;
  uint64_t num_opened() const;  ///< Indexes that were not found here and opened.

 private:
  using Entry = std::pair<FileIdentity, std::shared_ptr<const FileIndex>>;

  void Erase(std::map<FileIdentity, std::list<Entry>::iterator>::iterator position);
  void Insert(const FileIdentity& identity, const std::shared_ptr<const FileIndex>& index);

  /// Lets go what exceeds the capacity, and what a cache that is charged has no room for.
  void Shrink();

  mutable std::mutex mutex_;
  uint64_t capacity_bytes_;
  std::unique_ptr<CacheReservation> reservation_;
  std::list<Entry> entries_;  // the most recently used first
  std::map<FileIdentity, std::list<Entry>::iterator> positions_;
  uint64_t used_bytes_ = 0;
  uint64_t num_opened_ = 0;
};

}  // namespace blocksieve::rocksdb_plugin
