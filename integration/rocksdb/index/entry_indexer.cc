// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/entry_indexer.h"

#include <string>

#include "integration/rocksdb/compat/log.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Granules also end at this many times granule_bytes, for blocks that end late: they are larger
// than usual, or other threads compress them while entries are added.
constexpr uint64_t kLateBlockFactor = 4;

// An entry smaller than this does not fill a block by itself.
constexpr uint64_t kMinBlockBytes = 1024;

bool IsLeftOut(PartState part) {
  return part == PartState::kOverBudget || part == PartState::kOverMemory;
}

}  // namespace

Result<EntryIndexer> EntryIndexer::Create(SkipIndexSettings settings, bool numbers_blocks) {
  if (numbers_blocks) settings.index.granule_rows = settings.index.granule_bytes = 0;
  Result<SkipIndexBuilder> builder = SkipIndexBuilder::Create(settings.index, !numbers_blocks);
  if (!builder.ok()) return builder.status();
  return EntryIndexer(*std::move(builder), std::move(settings), numbers_blocks);
}

void EntryIndexer::Add(const TableEntry& entry) noexcept {
  if (entry.block != block_ && follows_blocks_) {
    EndBlock();
    block_ = entry.block;
  }
  const size_t num_bytes = entry.key.size() + entry.value.size();
  ++num_entries_;
  num_bytes_ += num_bytes;
  if (entry.type == EntryValue::kRange) return;
  builder_.NoteKey(entry.key);
  // By values, deletes are not indexed: candidates are re-checked on a view that applies them, and
  // blocks of a block index are left out only where nothing older can show. By columns of the key,
  // blocks are left out wherever they lie, so a delete counts like any version of its key.
  if (entry.type == EntryValue::kNone && !has_key_columns_) return;
  has_rows_ = true;
  const size_t suffix = settings_.value_suffix_bytes;
  if (entry.type == EntryValue::kNone) {
    builder_.AddEmptyRow(entry.key, num_bytes);
  } else if (entry.type == EntryValue::kPlain && entry.value.size() >= suffix) {
    builder_.AddRow(entry.key, entry.value.substr(0, entry.value.size() - suffix), num_bytes);
  } else {
    builder_.AddAlwaysMatchingRow(entry.key, num_bytes);
  }
  if (entry.sequence) builder_.NoteSequence(*entry.sequence);
}

void EntryIndexer::EndBlock() noexcept {
  if (numbers_blocks_) {
    if (!has_rows_) builder_.AddEmptyRow({});
    builder_.CloseGranule();
  } else if (num_entries_ != 1 || num_bytes_ >= kMinBlockBytes) {
    builder_.CloseGranule();
    builder_.LimitGranules(0, kLateBlockFactor * settings_.index.granule_bytes);
  } else {
    // In tables without blocks, each entry seems to be one.
    follows_blocks_ = false;
    builder_.LimitGranules(settings_.index.granule_rows, settings_.index.granule_bytes);
  }
  num_entries_ = 0;
  num_bytes_ = 0;
  has_rows_ = false;
}

uint64_t EntryIndexer::LogLeftOut(std::string_view file,
                                  const Result<FinishedSkipIndex>& index) const {
  const uint64_t limit = settings_.index.max_index_bytes;
  const uint64_t needed = builder_.needed_bytes();
  bool is_complete = index.ok();
  for (size_t i = 0; index.ok() && i < index->columns.size(); ++i) {
    const IndexColumnInfo& column = index->columns[i];
    if (!IsLeftOut(column.filters) && !IsLeftOut(column.bounds)) continue;
    is_complete = false;
    LogLoudly(settings_.info_log.get(),
              "skip index of " + std::string(file) +
                  (column.filters == PartState::kOverMemory
                       ? " takes more memory to build than 32 times max_index_bytes="
                       : " exceeds max_index_bytes=") +
                  std::to_string(limit) + ", so column " + column.definition + " has no " +
                  (IsLeftOut(column.bounds) ? "filters and bounds" : "filters") +
                  " and scans by it read more; " +
                  (needed != 0 ? "max_index_bytes=" + std::to_string(needed) + " keeps all"
                               : "raise max_index_bytes"));
  }
  return !is_complete && limit != 0 && needed > limit ? needed : 0;
}

}  // namespace blocksieve::rocksdb_plugin
