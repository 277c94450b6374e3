#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "blocksieve/filter.h"

namespace blocksieve::rocksdb_plugin {

/// Charges memory to a cache in steps of 256 KiB, with pinned entries that hold nothing. RocksDB's
/// class for this is internal, so this uses the public one for memtables: cache statistics count
/// the charge as "write-buffer". Not thread-safe.
class CacheCharge final : public MemoryCharge {
 public:
  /// REQUIRES: `cache` is not null.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache)
      : charger_(/*_buffer_size=*/0, std::move(cache)) {}

  /// Sets the charge, besides what is finished. False if a strict limit left too little room, so
  /// that less is charged.
  bool Set(uint64_t bytes) {
    bytes += finished_bytes_;
    if (bytes > bytes_) {
      charger_.ReserveMem(static_cast<size_t>(bytes - bytes_));
    } else {
      charger_.FreeMem(static_cast<size_t>(bytes_ - bytes));
    }
    bytes_ = bytes;
    return charger_.dummy_entries_in_cache_usage() >= bytes;
  }

  /// The same for memory that grows little by little: charges only full steps.
  void Grow(uint64_t bytes) noexcept override {
    constexpr uint64_t kStepBytes = 256 << 10;
    if (finished_bytes_ + bytes < bytes_ + kStepBytes) return;
    try {
      Set(bytes);
    } catch (const std::bad_alloc&) {
      // Uncharged memory is better than no filter.
    }
  }

  const char* Reserve(uint64_t bytes) noexcept override try {
    return Set(bytes) ? nullptr
                      : "the block cache has no room for building a ribbon; raise its capacity, or "
                        "take filter construction out of cache_usage_options";
  } catch (const std::bad_alloc&) {
    return nullptr;  // as above
  }

  /// Adds a finished partition, which RocksDB holds until it writes all of a file.
  void AddFinished(uint64_t bytes) {
    finished_bytes_ += bytes;
    Set(0);
  }

 private:
  rocksdb::WriteBufferManager charger_;
  uint64_t bytes_ = 0;
  uint64_t finished_bytes_ = 0;
};

/// A charge on the block cache if the table options charge filter construction to it, with
/// cache_usage_options or, before RocksDB 7.4, reserve_table_builder_memory. Otherwise null.
template <class Table = rocksdb::BlockBasedTableOptions>
std::unique_ptr<CacheCharge> ChargeOfFilterBuilding(const Table& table) {
  bool is_charged = false;
  if constexpr (requires { table.cache_usage_options.options_overrides; }) {
    const auto& usage = table.cache_usage_options;
    using Role = typename std::decay_t<decltype(usage.options_overrides)>::key_type;
    const auto found = usage.options_overrides.find(Role::kFilterConstruction);
    auto charged = usage.options.charged;
    using Decision = decltype(charged);
    if (found != usage.options_overrides.end() && found->second.charged != Decision::kFallback) {
      charged = found->second.charged;
    }
    is_charged = charged == Decision::kEnabled;
  } else if constexpr (requires { table.reserve_table_builder_memory; }) {
    is_charged = table.reserve_table_builder_memory;
  }
  if (!is_charged || table.block_cache == nullptr) return nullptr;
  return std::make_unique<CacheCharge>(table.block_cache);
}

}  // namespace blocksieve::rocksdb_plugin
