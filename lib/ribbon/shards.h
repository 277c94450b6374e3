#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "lib/base/block_memory.h"
#include "lib/ribbon/shape.h"

// Working memory of a ribbon build: little more than eight bytes per key. Hashes and pivots take
// eight bytes each and are equally many, so the blocks of a shard's hashes are reused for its
// pivots.

namespace blocksieve::internal {

/// Allocates blocks of 512 words from slabs, which are huge pages from 1 MiB on, as in HashList and
/// for the same reason.
class RibbonBlocks {
 public:
  static constexpr size_t kWords = 512;

  RibbonBlocks() = default;
  RibbonBlocks(const RibbonBlocks&) = delete;
  RibbonBlocks& operator=(const RibbonBlocks&) = delete;
  ~RibbonBlocks() {
    for (uint64_t* slab : slabs_) std::free(slab);
  }

  /// A block, from the free list or a new slab. Throws std::bad_alloc.
  uint64_t* Take() {
    if (free_ == nullptr) Grow();
    uint64_t* block = free_;
    free_ = reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(block[0]));
    return block;
  }

  void Return(uint64_t* block) noexcept {
    block[0] = reinterpret_cast<uintptr_t>(free_);
    free_ = block;
  }

 private:
  static constexpr size_t kBlockBytes = kWords * sizeof(uint64_t);
  static constexpr size_t kSmallSlabBytes = 64 << 10;
  static constexpr size_t kHugeFromBytes = 1 << 20;

  void Grow() {
    const bool huge = slab_bytes_ >= kHugeFromBytes;
    const size_t bytes = huge ? kHugePageBytes : kSmallSlabBytes;
    slabs_.push_back(nullptr);
    auto* slab = static_cast<uint64_t*>(huge ? std::aligned_alloc(kHugePageBytes, bytes)
                                             : std::malloc(bytes));
    if (slab == nullptr) throw std::bad_alloc();
    if (huge) PreferHugePages(slab, bytes);
    slabs_.back() = slab;
    slab_bytes_ += bytes;
    for (size_t i = bytes / kBlockBytes; i-- > 0;) Return(slab + i * kWords);
  }

  std::vector<uint64_t*> slabs_;
  size_t slab_bytes_ = 0;
  uint64_t* free_ = nullptr;  // list of free blocks, linked by their first words
};

/// The pivots of all slots: appended in order, read in segments of 64.
class RibbonPivots {
 public:
  explicit RibbonPivots(RibbonBlocks* blocks) : pool_(blocks) {}

  void Append(const uint64_t* pivots, size_t count) {
    while (count > 0) {
      const size_t used = size_ % RibbonBlocks::kWords;
      if (used == 0) blocks_.push_back(pool_->Take());
      const size_t part = count < RibbonBlocks::kWords - used ? count : RibbonBlocks::kWords - used;
      for (size_t i = 0; i < part; ++i) blocks_.back()[used + i] = pivots[i];
      pivots += part;
      count -= part;
      size_ += part;
    }
  }

  size_t size() const noexcept { return size_; }

  /// The pivots of segment i. REQUIRES: size() is a multiple of 64, which divides a block's length.
  const uint64_t* Segment(size_t i) const noexcept {
    assert(size_ % 64 == 0 && i < size_ / 64);
    const size_t slot = i * 64;
    return blocks_[slot / RibbonBlocks::kWords] + slot % RibbonBlocks::kWords;
  }

 private:
  RibbonBlocks* pool_;
  std::vector<uint64_t*> blocks_;
  size_t size_ = 0;
};

/// Distributes hashes to shards: ranges of chunks small enough to be sorted in the second-level
/// cache. Rejected: an American-flag partition in place. It needs no blocks, but all hashes in one
/// array, and is no faster.
class RibbonShards {
 public:
  RibbonShards(const RibbonChunks& chunks, RibbonBlocks* blocks);

  /// Distributes hashes. All functions throw std::bad_alloc.
  void Add(std::span<const uint64_t> hashes);

  /// Removes the hashes of a shard and sorts them by chunk.
  void TakeSorted(uint64_t shard);

  /// Hashes of chunk `i` of the shard last taken; may be modified.
  std::span<uint64_t> Chunk(uint64_t i) noexcept {
    return std::span(sorted_).subspan(chunk_begin_[i], chunk_begin_[i + 1] - chunk_begin_[i]);
  }

 private:
  // The last word of a block links to the previous block.
  static constexpr size_t kHashesPerBlock = RibbonBlocks::kWords - 1;

  struct Cursor {
    uint64_t* next = nullptr;
    uint64_t* end = nullptr;  // end of the hashes in this block
  };

  void AddBlock(Cursor* cursor);

  RibbonChunks chunks_;
  RibbonBlocks* blocks_;
  std::vector<Cursor> cursors_;
  std::vector<uint64_t> sorted_;
  std::vector<uint8_t> chunk_of_;
  std::vector<uint32_t> chunk_begin_;
};

}  // namespace blocksieve::internal
