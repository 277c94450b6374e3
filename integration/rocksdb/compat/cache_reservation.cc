#include "integration/rocksdb/compat/cache_reservation.h"

#include <array>
#include <cstring>

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr uint64_t kEntryBytes = 256 << 10;

/// Some caches take keys of 16 bytes only.
using Key = std::array<char, 16>;

// Until RocksDB 8.0.
template <class Cache>
concept TakesDeleters = requires(Cache& cache, void (*deleter)(const rocksdb::Slice&, void*),
                                 typename Cache::Handle* handle) {
  cache.Insert(rocksdb::Slice(), nullptr, 1, deleter, &handle);
};

template <class Cache>
rocksdb::Status Insert(Cache* cache, const rocksdb::Slice& key, typename Cache::Handle** handle) {
  if constexpr (TakesDeleters<Cache>) {
    static char nothing;
    return cache->Insert(
        key, &nothing, kEntryBytes, +[](const rocksdb::Slice&, void*) {}, handle);
  } else {
    static const typename Cache::CacheItemHelper helper;
    return cache->Insert(key, nullptr, &helper, kEntryBytes, handle);
  }
}

}  // namespace

bool CacheReservation::Set(uint64_t bytes) {
  if (cache_ == nullptr) return true;
  const uint64_t entries = (bytes + kEntryBytes - 1) / kEntryBytes;
  while (handles_.size() > entries) {
    cache_->Release(handles_.back(), /*erase_if_last_ref=*/true);
    handles_.pop_back();
  }
  while (handles_.size() < entries) {
    if (!Add()) return false;
  }
  return true;
}

bool CacheReservation::Add() {
  handles_.reserve(handles_.size() + 1);
  Key key{};
  const uint64_t id = cache_->NewId();
  std::memcpy(key.data(), "bsieve", 6);
  std::memcpy(key.data() + 8, &id, sizeof(id));
  rocksdb::Cache::Handle* handle = nullptr;
  if (!Insert(cache_.get(), {key.data(), key.size()}, &handle).ok()) return false;
  handles_.push_back(handle);
  return true;
}

}  // namespace blocksieve::rocksdb_plugin
