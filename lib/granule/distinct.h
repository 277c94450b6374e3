#pragma once

#include <cstdint>
#include <vector>

namespace blocksieve::internal {

/// The set of hashes in the current granule. Clear takes constant time, so a granule of many values
/// does not slow down the following ones.
class DistinctHashes {
 public:
  /// Returns whether the hash is new.
  bool Insert(uint64_t hash) {
    if (hash == latest_ && size_ != 0) return false;  // clustered columns repeat their values
    latest_ = hash;
    if (2 * (size_ + 1) > slots_.size()) Grow();
    if (!Place(hash)) return false;
    ++size_;
    return true;
  }

  void Clear() noexcept {
    size_ = 0;
    ++epoch_;
  }

  uint64_t size() const noexcept { return size_; }
  uint64_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint64_t epoch = 0;  // in use if equal to epoch_
  };

  bool Place(uint64_t hash) noexcept {
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.epoch != epoch_) {
        slot = {hash, epoch_};
        return true;
      }
      if (slot.hash == hash) return false;
    }
  }

  void Grow() {
    constexpr size_t kFirstSlots = 256;
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.epoch == epoch_) Place(slot.hash);
    }
  }

  std::vector<Slot> slots_;  // size: a power of two
  uint64_t size_ = 0;
  uint64_t epoch_ = 1;
  uint64_t latest_ = 0;
};

}  // namespace blocksieve::internal
