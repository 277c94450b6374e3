#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "lib/base/coding.h"

// The entries of a block index: one per data block, in key order. FORMAT.md specifies the bytes.

namespace blocksieve::rocksdb_plugin {

/// A data block in its file.
struct BlockHandle {
  uint64_t offset = 0;
  uint64_t size = 0;  ///< Without the trailer.
};

/// Entries from one restart to the next: a lookup decodes half as many on average.
inline constexpr size_t kRestartInterval = 16;

/// Encodes the entries of one file.
class EntryWriter {
 public:
  /// Adds a block. Its keys are at or below `separator`, and those of the next block above it, with
  /// one exception: if `continues`, the next block begins with the same key, in versions after
  /// `last_tag` (RocksDB's sequence number and type of the last entry).
  void Add(std::string_view separator, BlockHandle block, bool continues, uint64_t last_tag);

  size_t num_entries() const { return num_entries_; }
  size_t num_entry_bytes() const { return entries_.size(); }  ///< Without restarts.

  /// Appends entries and restarts.
  void AppendTo(std::string* out) const;

 private:
  std::string entries_;
  std::vector<uint32_t> restarts_;  // offsets of entries that share nothing
  std::string last_separator_;
  uint64_t next_offset_ = 0;  // where the next block begins if it follows directly
  size_t num_entries_ = 0;
};

/// The entries of an open index; a view of its bytes.
class Entries {
 public:
  /// Checks all entries, so that cursors need not. Errors: Corruption.
  static Status Open(uint64_t num_entries, uint64_t entry_bytes, Decoder* from,
                     const rocksdb::Comparator* comparator, Entries* entries);

  size_t size() const { return num_entries_; }

 private:
  friend class EntryCursor;

  ByteView entries_;
  ByteView restarts_;
  size_t num_entries_ = 0;
  const rocksdb::Comparator* comparator_ = nullptr;
};

/// A position in the entries, or none: before the first and after the last.
class EntryCursor {
 public:
  /// `entries` must outlive the cursor.
  explicit EntryCursor(const Entries& entries) : entries_(&entries) {}

  bool Valid() const { return index_ < entries_->size(); }
  size_t index() const { return index_; }  ///< The number of the entry.

  /// @{
  /// Of the current entry. REQUIRES: Valid()
  const std::string& separator() const { return separator_; }
  BlockHandle block() const { return block_; }
  bool continues() const { return continues_; }
  /// @}

  /// Moves to the entry `index`; to none if there is none.
  void MoveTo(size_t index);
  void Next() { MoveTo(index_ + 1); }
  void Prev() { MoveTo(index_ - 1); }

  /// Moves to the first block that may have entries at or after version `tag` of `key`.
  void Seek(std::string_view key, uint64_t tag);

 private:
  friend class Entries;

  // Entries at restarts do not depend on the one before.
  void ForgetLast() {
    separator_.clear();
    block_ = {};
  }
  bool Decode();  // the entry at rest_; false if it is damaged
  bool MoveToRestart(size_t restart);
  bool IsBefore(std::string_view key, uint64_t tag) const;

  const Entries* entries_;
  ByteView rest_ = {};
  size_t index_ = SIZE_MAX;
  std::string separator_;
  BlockHandle block_;
  uint64_t last_tag_ = 0;
  bool continues_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
