#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/ribbon/layout.h"
#include "lib/ribbon/memory.h"

namespace blocksieve::internal {

/// Distributes hashes to shards, ranges of chunks small enough to be sorted in the second-level
/// cache. An American-flag partition in place would need no blocks, but all hashes in one array,
/// where they do not come from; and it is no faster.
class RibbonShards {
 public:
  RibbonShards(const RibbonChunks& chunks, RibbonBlocks* blocks);

  /// Throws std::bad_alloc, as do the others.
  void Add(std::span<const uint64_t> hashes);

  /// Takes the hashes of a shard out and orders them by chunk.
  void TakeSorted(uint64_t shard);

  /// Chunk `i` of the shard last taken. The hashes may be changed.
  std::span<uint64_t> Chunk(uint64_t i) noexcept {
    return std::span(sorted_).subspan(chunk_begin_[i], chunk_begin_[i + 1] - chunk_begin_[i]);
  }

 private:
  // The last word of a block links to the one before.
  static constexpr size_t kHashesPerBlock = RibbonBlocks::kWords - 1;

  struct Cursor {
    uint64_t* next = nullptr;
    uint64_t* end = nullptr;  // of the hashes in this block
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
