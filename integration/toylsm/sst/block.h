#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/range_filter.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// Where a block is in its file. Its checksum stands here and not beside the block, so that a sound
/// block in the wrong place is noticed too.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t stored_bytes = 0;  ///< less than raw_bytes if it is compressed; 0: no block
  uint64_t raw_bytes = 0;
  uint32_t checksum = 0;  ///< of the stored bytes
};

/// The stored form of a block; sets all of `handle` but the offset.
std::string CompressBlock(std::string_view raw, int zstd_level, BlockHandle* handle);

/// The inverse. Errors: Corruption, ResourceExhausted.
Result<std::string> UncompressBlock(std::string stored, const BlockHandle& handle);

/// A block in memory, ready for use. Does not move, as its parts refer to its bytes.
struct Block {
  enum class Kind : uint8_t { kData, kFilter };

  Block(Kind k, std::string b) : kind(k), bytes(std::move(b)) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  uint64_t memory_bytes() const {
    return sizeof(Block) + bytes.capacity() + entries.capacity() * sizeof(Entry);
  }

  const Kind kind;
  const std::string bytes;
  std::vector<Entry> entries;  ///< of a data block: at least one, in order
  FilterReader filter;         ///< of a filter block
  RangeFilterReader ranges;    ///< also; may match everything
};

/// All versions of a key are in one block of a file, so that one place to look is enough.
void AppendEntry(std::string* raw_block, const Entry& entry);

/// Errors: Corruption, also if entries are not in order.
Result<std::shared_ptr<const Block>> ParseDataBlock(std::string raw);

/// Never fails: a filter that is no filter matches everything.
Result<std::shared_ptr<const Block>> ParseFilterBlock(std::string raw);

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
