#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

/// What is known of an entry's value when it is written.
enum class EntryValue {
  kPlain,    ///< It is what readers see.
  kUnknown,  ///< A merge operand, a blob reference, an entity, or of a type of later versions.
  kNone,     ///< The entry deletes.
  kRange,    ///< It deletes a range, whatever its blocks: readers apply it in any case.
};

inline EntryValue ToEntryValue(rocksdb::EntryType type) {
  switch (type) {
    case rocksdb::kEntryPut:
      return EntryValue::kPlain;
    case rocksdb::kEntryDelete:
    case rocksdb::kEntrySingleDelete:
    case rocksdb::kEntryDeleteWithTimestamp:
      return EntryValue::kNone;
    case rocksdb::kEntryRangeDeletion:
      return EntryValue::kRange;
    default:
      return EntryValue::kUnknown;
  }
}

/// An entry of a table, as RocksDB stores it.
struct TableEntry {
  std::string_view key;  ///< Without sequence number and type.
  std::string_view value;
  EntryValue type = EntryValue::kPlain;
  std::optional<uint64_t> sequence = std::nullopt;
  uint64_t block = 0;  ///< Another number than that of the entry before: another data block.
};

/// Builds the skip index of a table from its entries: all who write one feed this. Not thread-safe.
class EntryIndexer {
 public:
  /// `numbers_blocks`: for a carrier that numbers blocks, so that each is a granule, however large,
  /// whose keys the carrier has. Errors: those of SkipIndexBuilder::Create.
  static Result<EntryIndexer> Create(SkipIndexSettings settings, bool numbers_blocks = false);

  /// Adds the next entry, in the table's order. Range tombstones come after all others.
  void Add(const TableEntry& entry) noexcept;

  /// Ends the current block, for those who know its end and number no blocks.
  void EndBlock() noexcept;

  /// As SkipIndexBuilder.
  Result<FinishedSkipIndex> Finish() noexcept { return builder_.Finish(); }

  /// Logs what max_index_bytes left out of `index`, which Finish returned for `file`, and what
  /// would keep it. Returns the max_index_bytes that keeps all; 0 if all was kept, or if unknown.
  uint64_t LogLeftOut(std::string_view file, const Result<FinishedSkipIndex>& index) const;

 private:
  EntryIndexer(SkipIndexBuilder builder, SkipIndexSettings settings, bool numbers_blocks)
      : builder_(std::move(builder)),
        settings_(std::move(settings)),
        numbers_blocks_(numbers_blocks),
        follows_blocks_(settings_.index.block_granules),
        has_key_columns_(std::ranges::any_of(settings_.index.columns, &Column::is_of_key)) {}

  SkipIndexBuilder builder_;
  SkipIndexSettings settings_;
  bool numbers_blocks_;
  bool follows_blocks_;
  bool has_key_columns_;
  uint64_t block_ = 0;
  // Of the current block.
  uint64_t num_entries_ = 0;
  uint64_t num_bytes_ = 0;
  bool has_rows_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
