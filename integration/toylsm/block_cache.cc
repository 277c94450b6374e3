#include "integration/toylsm/block_cache.h"

namespace blocksieve::toylsm {

std::shared_ptr<const Block> BlockCache::Find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = positions_.find(key);
  if (found == positions_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void BlockCache::Insert(const Key& key, std::shared_ptr<const Block> block) {
  const std::lock_guard lock(mutex_);
  if (positions_.count(key) != 0) return;
  // Whatever may throw comes first.
  Entries entry;
  entry.emplace_front(key, std::move(block));
  positions_[key] = entry.begin();
  BytesOf(*entry.front().second) += entry.front().second->memory_bytes();
  entries_.splice(entries_.begin(), entry);
  while (bytes_[0] + bytes_[1] > capacity_bytes_) {
    BytesOf(*entries_.back().second) -= entries_.back().second->memory_bytes();
    positions_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

void BlockCache::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  positions_.clear();
  bytes_[0] = bytes_[1] = 0;
}

uint64_t BlockCache::resident_bytes(Block::Kind kind) const {
  const std::lock_guard lock(mutex_);
  return bytes_[static_cast<size_t>(kind)];
}

}  // namespace blocksieve::toylsm
