#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/slice.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/filter.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/skip_index.h"
#include "integration/rocksdb/block_index/entries.h"
#include "integration/rocksdb/block_index/file_id.h"
#include "integration/rocksdb/index/entry_indexer.h"
#include "integration/rocksdb/index/prune_rule.h"

namespace blocksieve::rocksdb_plugin {

/// The first bytes of an index.
inline constexpr char kBlockIndexMagic[4] = {'\xb5', 'b', 'i', 'x'};
inline constexpr char kBlockIndexVersion = 1;
/// Blocks of RocksDB are shorter than 4 GiB; offsets of entries have 32 bits.
inline constexpr uint64_t kMaxBlockIndexBytes = UINT64_C(0xffffffff) - kBlockTrailerBytes;

/// The same for equal options; for different ones only by chance, once in 2^32 pairs.
uint32_t OptionsId(const EnableOptions& options);

/// Builds the index of one file. Throws nothing: without memory there is no index, and reads use
/// RocksDB's. Not thread-safe.
class BlockIndexBuilder {
 public:
  /// `id`: the file's (file_id.h). Errors: InvalidArgument, as Enable.
  static Result<BlockIndexBuilder> Create(const EnableOptions& options,
                                          const rocksdb::Comparator* comparator,
                                          const SidecarId& id = kNoFileId);

  /// Adds an entry of the current block, in RocksDB's order.
  void Add(const TableEntry& entry) noexcept;

  /// Ends the current block. `next_key`: first key of the next one; null after the last. Returns
  /// the separator of both, valid until the next call.
  std::string_view EndBlock(std::string_view last_key, const std::string_view* next_key,
                            BlockHandle block, uint64_t last_tag) noexcept;

  /// The bytes, valid as long as the builder; empty if memory was short or the index takes 4 GiB.
  std::string_view Finish() noexcept;

  uint64_t EstimatedBytes() const { return entries_.num_entry_bytes(); }

 private:
  BlockIndexBuilder(const EnableOptions& options, const rocksdb::Comparator* comparator,
                    const SidecarId& id)
      : options_(options), comparator_(comparator), id_(id) {}

  std::string Build();

  EnableOptions options_;
  const rocksdb::Comparator* comparator_;
  SidecarId id_;
  std::optional<FilterBuilder> ranges_;
  std::optional<FilterBuilder> prefixes_;
  std::optional<EntryIndexer> values_;
  EntryWriter entries_;
  std::string separator_;
  std::string bytes_;
  bool is_sound_ = true;
};

/// The index of an open file. Immutable, thread-safe.
class BlockIndex {
 public:
  /// Opens an index; `bytes` must outlive it. A section that is damaged is left out: all ranges and
  /// values may match. Errors: Corruption, NotSupported (written by a later version).
  static Result<BlockIndex> Open(ByteView bytes, const rocksdb::Comparator* comparator);

  const Entries& entries() const { return entries_; }
  const rocksdb::Comparator& comparator() const { return *comparator_; }
  bool comparator_is_bytewise() const { return comparator_ == rocksdb::BytewiseComparator(); }
  const SkipIndex* values() const { return values_ ? &*values_ : nullptr; }  ///< Null: none.
  uint32_t value_suffix_bytes() const { return value_suffix_bytes_; }
  uint32_t options_id() const { return options_id_; }  ///< OptionsId when it was written.
  const SidecarId& id() const { return id_; }          ///< The file's; see file_id.h.
  bool answers_ranges() const { return ranges_.answers_ranges() || prefixes_.answers_ranges(); }

  /// Whether some key may be in [begin, end).
  bool MayContainRange(std::string_view begin, std::string_view end) const {
    return prefixes_.MayContainRange(begin, end) && ranges_.MayContainRange(begin, end);
  }

  /// Keys at or before the first and at or after the last of a block, with few others between.
  /// Nothing before the first block. REQUIRES: the file has the block
  std::pair<std::optional<std::string>, std::string> KeyRange(size_t block) const;

  /// The blocks to read for a condition; nullopt: all, as the index cannot prune by it.
  std::optional<GranuleSet> BlocksToRead(const Predicate& condition, BlockRule rule) const;

  /// Memory that it takes, with `bytes` and without itself.
  uint64_t memory_bytes() const;

 private:
  BlockIndex() = default;

  const rocksdb::Comparator* comparator_ = nullptr;
  uint64_t num_bytes_ = 0;
  uint32_t options_id_ = 0;
  SidecarId id_ = kNoFileId;
  uint32_t value_suffix_bytes_ = 0;
  Entries entries_;
  Filter ranges_;
  Filter prefixes_;
  std::optional<SkipIndex> values_;
};

/// What a condition leaves out of the file with one id, found at its first iterator. Thread-safe.
class FileBlocks {
 public:
  /// The `condition` must outlive this.
  FileBlocks(const Predicate* condition, uint32_t value_suffix_bytes, BlockRule rule)
      : condition_(condition), value_suffix_bytes_(value_suffix_bytes), rule_(rule) {}

  /// The blocks to read; null: all. Null without memory. `index`: the file's.
  std::shared_ptr<const GranuleSet> Find(const BlockIndex& index) const noexcept;

  /// Blocks of the file's index and of these left out, once Find was called.
  uint64_t num_blocks() const { return num_blocks_.load(std::memory_order_relaxed); }
  uint64_t blocks_left_out() const { return blocks_left_out_.load(std::memory_order_relaxed); }

 private:
  const Predicate* const condition_;
  const uint32_t value_suffix_bytes_;
  const BlockRule rule_;
  mutable std::once_flag once_;
  mutable std::shared_ptr<const GranuleSet> blocks_;
  mutable std::atomic<uint64_t> num_blocks_ = 0;
  mutable std::atomic<uint64_t> blocks_left_out_ = 0;
};

/// What a condition leaves out of files, by their ids.
using BlocksOfFiles = std::map<SidecarId, FileBlocks>;

/// What an iterator may leave out.
struct BlockIndexRead {
  /// Bounds of a user's iterator, whose bytes may change between seeks; null: none. No other read
  /// may have them: a "no" in a compaction would delete rows for good.
  const rocksdb::Slice* lower = nullptr;
  const rocksdb::Slice* upper = nullptr;
  std::shared_ptr<const GranuleSet> blocks = nullptr;  ///< Those to read; null: all.
};

/// A range of keys to scan, [begin, end); without an end, to the last key.
struct AnnouncedRange {
  std::string begin;
  std::optional<std::string> end;
};

/// Moves over the blocks that may have entries for a read. Not thread-safe.
class BlockIndexIterator {
 public:
  /// `index` must outlive the iterator.
  BlockIndexIterator(const BlockIndex& index, BlockIndexRead read)
      : index_(index), read_(std::move(read)), cursor_(index.entries()) {}

  /// Announces the ranges of a MultiScan, in order. A Seek to the start of each must follow at
  /// once, and ends at the end of its range: the bounds of the read are those of another range
  /// then. `keeps_last`: find a block for the last one in any case.
  void Prepare(std::vector<AnnouncedRange> ranges, bool keeps_last);

  /// @{
  /// Move to a block, or to none.
  void Seek(std::string_view key, uint64_t tag);
  void SeekToFirst() { MoveForward(0); }
  void SeekToLast();
  void Next();
  void Prev() { MoveBackward(cursor_.index() - 1); }
  /// @}

  bool Valid() const { return is_valid_; }
  const EntryCursor& entry() const { return cursor_; }  ///< REQUIRES: Valid()

 private:
  /// What the last Seek found. RocksDB's SeekForPrev calls Seek, and SeekToLast if that finds
  /// nothing, by which it means the last block at or before the target.
  enum class Found {
    kBlock,         ///< A block, or the end of the file; also after any other move.
    kNothingAbove,  ///< No key from the target to the bound. The cursor is where they would be.
    kNothing,       ///< No key between the bounds.
  };

  bool IsLeftOut(size_t block) const {
    return read_.blocks != nullptr && !read_.blocks->Has(block);
  }
  bool MayContain(std::string_view begin, std::string_view end) const;
  std::optional<std::string_view> UpperBound() const;
  void SeekToRange();
  void MoveForward(size_t block);
  void MoveBackward(size_t block);
  void MoveTo(size_t block);

  const BlockIndex& index_;
  const BlockIndexRead read_;
  EntryCursor cursor_;
  bool is_valid_ = false;
  Found found_ = Found::kBlock;
  // Of a MultiScan.
  std::vector<AnnouncedRange> ranges_;
  bool keeps_last_ = false;
  size_t next_range_ = 0;  // to be sought; none: all were
  size_t kept_range_ = 0;  // the first from there that may have keys, if asked
  const AnnouncedRange* sought_range_ = nullptr;  // by the last Seek; null: none
  std::string target_;                            // of the last question
};

}  // namespace blocksieve::rocksdb_plugin
