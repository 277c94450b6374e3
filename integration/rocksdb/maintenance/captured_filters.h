#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/rocksdb/block_index/factory.h"

namespace blocksieve::rocksdb_plugin {

/// A policy that captures the filters that RocksDB passes to it when it reads a table. RocksDB
/// itself handles footer, partitions, checksums, compression and format version. Not thread-safe.
class CapturedFilters final : public rocksdb::FilterPolicy {
 public:
  /// The bytes of each filter, in the order of loading, which is the key order.
  const std::vector<std::string>& contents() const { return contents_; }

  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    contents_.push_back(contents.ToString());
    return nullptr;  // RocksDB treats this as "may match"
  }

 private:
  mutable std::vector<std::string> contents_;
};

/// Tables whose filters are loaded and pinned when a table is opened, and whose block index is then
/// described, unless `index` is null.
inline std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy, OpenedBlockIndex* index) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::move(policy);
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                                  .partition_pinning = rocksdb::PinningTier::kAll,
                                  .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 40, /*num_shard_bits=*/0);
  if (index != nullptr) DescribeBlockIndexes(index, &table);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

}  // namespace blocksieve::rocksdb_plugin
