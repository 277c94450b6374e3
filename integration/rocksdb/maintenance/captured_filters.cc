#include "integration/rocksdb/maintenance/captured_filters.h"

#include <rocksdb/cache.h>

#include <utility>

namespace blocksieve::rocksdb_plugin {

std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::move(policy);
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                                  .partition_pinning = rocksdb::PinningTier::kAll,
                                  .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 40, /*num_shard_bits=*/0);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

}  // namespace blocksieve::rocksdb_plugin
