#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// Where a block is in its file. The checksum stands here and not beside the block, so that a sound
/// block in the wrong place is noticed too.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t stored_bytes = 0;  ///< less than raw_bytes if compressed; 0: no block
  uint64_t raw_bytes = 0;
  uint32_t checksum = 0;  ///< of the stored bytes
};

void AppendHandle(std::string* out, const BlockHandle& handle);
BlockHandle ReadHandle(Decoder* decoder);

/// The stored form of a block; sets all of `handle` but the offset.
std::string CompressBlock(std::string_view raw, int zstd_level, BlockHandle* handle);

/// The inverse. Errors: Corruption.
Result<std::string> UncompressBlock(std::string stored, const BlockHandle& handle);

/// A block in memory, ready for use. Does not move, as its parts refer to its bytes.
struct Block {
  enum class Kind : uint8_t { kData, kFilter };

  Block(Kind k, std::string b) : kind(k), bytes(std::move(b)) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// The number of the first entry whose key is `key` or greater.
  size_t FindEntry(std::string_view key) const {
    const auto is_less = [](const Entry& entry, std::string_view k) { return entry.key < k; };
    const auto found = std::lower_bound(entries.begin(), entries.end(), key, is_less);
    return static_cast<size_t>(found - entries.begin());
  }

  uint64_t memory_bytes() const {
    return sizeof(Block) + bytes.capacity() + entries.capacity() * sizeof(Entry);
  }

  const Kind kind;
  const std::string bytes;
  std::vector<Entry> entries;  ///< of a data block: at least one, in key order
  Filter filter;               ///< of a filter block
};

/// Errors: Corruption, also if entries are out of order: they would hide what other files have.
Result<std::shared_ptr<const Block>> ParseDataBlock(std::string raw);

/// Never fails: a filter that cannot be read matches everything. Opening a filter takes constant
/// time; done once here, it is cached with the block.
std::shared_ptr<const Block> ParseFilterBlock(std::string raw);

}  // namespace blocksieve::toylsm
