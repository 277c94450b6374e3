#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "integration/toylsm/sst/block.h"

namespace blocksieve::toylsm {

/// Cost of reads, and savings by filters.
struct Counters {
  uint64_t data_blocks_from_disk = 0;
  uint64_t data_blocks_from_cache = 0;
  uint64_t filter_blocks_from_disk = 0;
  uint64_t filter_blocks_from_cache = 0;
  uint64_t bytes_from_disk = 0;    ///< all reads
  uint64_t block_index_bytes = 0;  ///< read when files are opened

  uint64_t filter_negatives = 0;        ///< lookups that read no data block
  uint64_t filter_true_positives = 0;   ///< lookups whose data block had the key
  uint64_t filter_false_positives = 0;  ///< wasted reads
  uint64_t filters_unreadable = 0;      ///< data blocks read without a filter
  uint64_t range_negatives = 0;         ///< sorted runs that a bounded seek did not read
};

/// An LRU cache of data and filter blocks, with a capacity in bytes.
class BlockCache {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  ///< file number, offset

  explicit BlockCache(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Null if the block is not cached.
  std::shared_ptr<const Block> Find(const Key& key) {
    const auto found = positions_.find(key);
    if (found == positions_.end()) return nullptr;
    blocks_.splice(blocks_.begin(), blocks_, found->second);
    return found->second->second;
  }

  /// REQUIRES: the block is not cached.
  void Insert(const Key& key, std::shared_ptr<const Block> block) {
    bytes_ += block->memory_bytes();
    blocks_.emplace_front(key, std::move(block));
    positions_[key] = blocks_.begin();
    while (bytes_ > capacity_bytes_) {
      const auto& [last_key, last_block] = blocks_.back();
      bytes_ -= last_block->memory_bytes();
      positions_.erase(last_key);
      blocks_.pop_back();
    }
  }

  void Clear() {
    blocks_.clear();
    positions_.clear();
    bytes_ = 0;
  }

 private:
  using Blocks = std::list<std::pair<Key, std::shared_ptr<const Block>>>;

  const uint64_t capacity_bytes_;
  Blocks blocks_;  // most recently used first
  std::map<Key, Blocks::iterator> positions_;
  uint64_t bytes_ = 0;
};

/// Counters and cache of a read.
struct ReadContext {
  Counters* counters;
  BlockCache* cache;  ///< null: neither used nor filled
};

}  // namespace blocksieve::toylsm
