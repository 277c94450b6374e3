// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/shards.h"

namespace blocksieve::internal {
namespace {

uint64_t* LinkedBlock(const uint64_t* block) {
  return reinterpret_cast<uint64_t*>(static_cast<uintptr_t>(block[RibbonBlocks::kWords - 1]));
}

}  // namespace

RibbonShards::RibbonShards(const RibbonChunks& chunks, RibbonBlocks* blocks)
    : chunks_(chunks),
      blocks_(blocks),
      cursors_(chunks.shards),
      chunk_begin_(chunks.chunks_per_shard + 1) {}

void RibbonShards::AddBlock(Cursor* cursor) {
  uint64_t* before = cursor->end == nullptr ? nullptr : cursor->end - kHashesPerBlock;
  uint64_t* block = blocks_->Take();
  block[kHashesPerBlock] = reinterpret_cast<uintptr_t>(before);
  *cursor = {block, block + kHashesPerBlock};
}

void RibbonShards::Add(std::span<const uint64_t> hashes) {
  for (const uint64_t hash : hashes) {
    Cursor& cursor = cursors_[RibbonChunkOf(hash, chunks_.shards)];
    if (cursor.next == cursor.end) [[unlikely]]
      AddBlock(&cursor);
    *cursor.next++ = hash;
  }
}

void RibbonShards::TakeSorted(uint64_t shard) {
  const Cursor cursor = cursors_[shard];
  cursors_[shard] = {};
  uint64_t* const last = cursor.end == nullptr ? nullptr : cursor.end - kHashesPerBlock;
  const auto count_in = [&](const uint64_t* block) {
    return block == last ? static_cast<size_t>(cursor.next - last) : kHashesPerBlock;
  };
  size_t count = 0;
  for (const uint64_t* block = last; block != nullptr; block = LinkedBlock(block)) {
    count += count_in(block);
  }
  sorted_.resize(count);
  chunk_of_.resize(count);

  const uint64_t total = chunks_.total();
  const uint64_t first = shard * chunks_.chunks_per_shard;
  std::vector<uint32_t>& begin = chunk_begin_;
  begin.assign(begin.size(), 0);
  uint8_t* chunk_of = chunk_of_.data();
  for (const uint64_t* block = last; block != nullptr; block = LinkedBlock(block)) {
    const size_t hashes = count_in(block);
    for (size_t i = 0; i < hashes; ++i) {
      *chunk_of++ = static_cast<uint8_t>(RibbonChunkOf(block[i], total) - first);
    }
  }
  for (const uint8_t chunk : chunk_of_) ++begin[chunk];
  uint32_t sum = 0;
  for (uint32_t& entry : begin) {
    sum += entry;
    entry = sum - entry;
  }
  chunk_of = chunk_of_.data();
  for (uint64_t* block = last; block != nullptr;) {
    const size_t hashes = count_in(block);
    for (size_t i = 0; i < hashes; ++i) sorted_[begin[*chunk_of++]++] = block[i];
    uint64_t* before = LinkedBlock(block);
    blocks_->Return(block);
    block = before;
  }
  // Each entry has advanced to the start of the next chunk.
  for (size_t i = begin.size() - 1; i > 0; --i) begin[i] = begin[i - 1];
  begin[0] = 0;
}

}  // namespace blocksieve::internal
