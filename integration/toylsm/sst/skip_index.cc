#include "integration/toylsm/sst/skip_index.h"

#include <cassert>
#include <utility>

namespace blocksieve::toylsm {

Result<FileSkipIndexBuilder> FileSkipIndexBuilder::Create(const Options& options) {
  assert(!options.value_columns.empty());
  // Granules are closed here, at the ends of blocks.
  Result<SkipIndexBuilder> rows =
      SkipIndexBuilder::Create({.columns = options.value_columns,
                                .granule_rows = 0,
                                .granule_bytes = 0,
                                .target_fpr = options.value_target_fpr});
  if (!rows.ok()) return rows.status();
  return FileSkipIndexBuilder(options.value_granule_blocks, *std::move(rows));
}

void FileSkipIndexBuilder::Add(const Entry& entry) {
  if (entry.type != EntryType::kPut) return;
  rows_.AddRow({}, entry.value);
  rows_.NoteSequence(entry.sequence);
  has_rows_ = true;
}

void FileSkipIndexBuilder::FinishBlock() {
  if (++num_blocks_ % granule_blocks_ == 0) FinishGranule();
}

void FileSkipIndexBuilder::FinishGranule() {
  // A granule without rows would not count, and put the numbers of all others out of step.
  if (!has_rows_) rows_.AddEmptyRow({});
  rows_.CloseGranule();
  has_rows_ = false;
}

Result<std::string> FileSkipIndexBuilder::Finish() {
  if (num_blocks_ % granule_blocks_ != 0) FinishGranule();
  return rows_.Finish();
}

std::shared_ptr<const FileSkipIndex> FileSkipIndex::Open(std::string bytes, size_t num_blocks,
                                                         uint32_t granule_blocks) {
  assert(granule_blocks > 0);
  std::shared_ptr<FileSkipIndex> opened(
      new FileSkipIndex(std::move(bytes), num_blocks, granule_blocks));
  Result<SkipIndexReader> index = SkipIndexReader::Open(AsBytes(opened->bytes_));
  if (!index.ok()) return nullptr;
  if (index->num_granules() != (num_blocks + granule_blocks - 1) / granule_blocks) return nullptr;
  opened->index_ = *std::move(index);
  return opened;
}

GranuleSet FileSkipIndex::CandidateBlocks(const Predicate& predicate, Sequence sequence) const {
  const GranuleSet granules = index_->Candidates(predicate);
  GranuleSet blocks = GranuleSet::None(num_blocks_);
  for (size_t block = 0; block < num_blocks_; ++block) {
    const size_t granule = block / granule_blocks_;
    if (granules.Has(granule) && index_->granules().MinSequence(granule) <= sequence) {
      blocks.Add(block);
    }
  }
  return blocks;
}

bool FileSkipIndex::Admits(size_t block, const Entry& entry,
                           const std::vector<Column>& columns) const {
  assert(block < num_blocks_);
  if (entry.type != EntryType::kPut) return true;
  const GranuleIndex& granules = index_->granules();
  const size_t granule = block / granule_blocks_;
  GranuleSet admitted = GranuleSet::None(index_->num_granules());
  admitted.Add(granule);
  for (const Column& column : columns) {
    const std::optional<size_t> number = index_->FindColumn(column);
    if (!number) continue;
    const ColumnIndex& index = granules.column_index(*number);
    bool has_values = false;
    column.ForEachIndexed(entry.value, [&](const Value& value) {
      index.KeepContaining(value.Hash(), &admitted);
      index.KeepOverlapping({.low = value, .high = value}, &admitted);
      has_values = true;
      return true;
    });
    has_values ? index.KeepPresent(&admitted) : index.KeepMissing(&admitted);
  }
  return admitted.Has(granule) && granules.MinSequence(granule) <= entry.sequence;
}

}  // namespace blocksieve::toylsm
