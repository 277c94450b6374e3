#pragma once  // SPDX-License-Identifier: Apache-2.0

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

/// Location of a block in its file. The checksum is here, not next to the block, so that an intact
/// block at the wrong offset is detected, too.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t num_bytes = 0;  ///< 0: no block
  uint32_t checksum = 0;
};

void AppendHandle(std::string* out, const BlockHandle& handle);
BlockHandle ReadHandle(Decoder* decoder);

/// The last block of an SST, with the handles of all others; in memory while the file is open.
struct SstIndex {
  struct DataBlock {
    std::string last_key;
    BlockHandle handle;
  };
  std::string first_key;
  std::vector<DataBlock> blocks;  ///< at least one
  uint64_t num_entries = 0;

  /// Filter f covers the blocks from f * filter_granule_blocks on; 0: no filters.
  uint32_t filter_granule_blocks = 0;
  std::vector<BlockHandle> filters;

  BlockHandle skip_index;  ///< has a granule for each data block

  std::string Encode() const;
  /// Errors: Corruption.
  static Result<SstIndex> Decode(ByteView bytes);
};

/// A parsed block in memory. Not movable, because its parts refer to its bytes.
struct Block {
  enum class Kind : uint8_t { kData, kFilter };

  explicit Block(std::string b) : bytes(std::move(b)) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Index of the first entry with a key >= `key`.
  size_t FindEntry(std::string_view key) const {
    const auto is_less = [](const Entry& entry, std::string_view k) { return entry.key < k; };
    const auto found = std::lower_bound(entries.begin(), entries.end(), key, is_less);
    return static_cast<size_t>(found - entries.begin());
  }

  uint64_t memory_bytes() const {
    return sizeof(Block) + bytes.capacity() + entries.capacity() * sizeof(Entry);
  }

  const std::string bytes;
  std::vector<Entry> entries;  ///< data block: at least one, in key order
  Filter filter;               ///< filter block
};

/// Errors: Corruption, also if entries are out of order, which could hide entries of other files.
Result<std::shared_ptr<const Block>> ParseDataBlock(std::string raw);

/// Never fails: an unreadable filter may match every key. The opened filter is cached with the
/// block.
std::shared_ptr<const Block> ParseFilterBlock(std::string raw);

}  // namespace blocksieve::toylsm
