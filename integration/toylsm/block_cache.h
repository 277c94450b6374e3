#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "integration/toylsm/block.h"

namespace blocksieve::toylsm {

/// The data and filter blocks used last, up to a number of bytes. Thread-safe; one lock for all,
/// where a real engine would have shards.
class BlockCache {
 public:
  struct Key {
    uint64_t file_number;
    uint64_t offset;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  explicit BlockCache(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Null if it is not there.
  std::shared_ptr<const Block> Find(const Key& key);

  /// Without effect if there is one already.
  void Insert(const Key& key, std::shared_ptr<const Block> block);

  void Clear();

  uint64_t resident_bytes(Block::Kind kind) const;

 private:
  using Entries = std::list<std::pair<Key, std::shared_ptr<const Block>>>;

  uint64_t& BytesOf(const Block& block) { return bytes_[static_cast<size_t>(block.kind)]; }

  const uint64_t capacity_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;  // guarded by mutex_; the last used in front
  std::map<Key, Entries::iterator> positions_;
  uint64_t bytes_[2] = {};  // by kind
};

}  // namespace blocksieve::toylsm
