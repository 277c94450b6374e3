#include "integration/toylsm/value_index.h"

#include <utility>

namespace blocksieve::toylsm {

Result<ValueIndexBuilder> ValueIndexBuilder::Create(const Options& options) {
  GranuleIndexOptions core;
  core.granule_rows = 0;  // granules are closed here, at the ends of blocks
  core.granule_bytes = 0;
  for (const Column& column : options.value_columns) {
    GranuleColumnOptions& core_column = core.columns.emplace_back();
    core_column.name = column.ToText();
    core_column.type = column.type();
    core_column.target_fpr = options.value_target_fpr;
  }
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(core);
  if (!builder.ok()) return builder.status();
  return ValueIndexBuilder(options, *std::move(builder));
}

void ValueIndexBuilder::Add(const Entry& entry) {
  if (entry.type != EntryType::kPut) return;
  builder_.StartRow({}, 0);
  builder_.NoteSequence(entry.sequence);
  has_rows_ = true;
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].ForEachIndexed(entry.value, [&](const Value& value) {
      builder_.AddValue(i, value);
      return true;
    });
  }
}

void ValueIndexBuilder::FinishBlock() {
  if (++num_blocks_ % granule_blocks_ == 0) FinishGranule();
}

void ValueIndexBuilder::FinishGranule() {
  // A granule without rows would not count, and put the numbers of all others out of step.
  if (!has_rows_) builder_.StartRow({}, 0);
  builder_.CloseGranule();
  has_rows_ = false;
}

Result<std::string> ValueIndexBuilder::Finish() {
  if (num_blocks_ % granule_blocks_ != 0) FinishGranule();
  return builder_.Finish();
}

std::shared_ptr<const ValueIndex> ValueIndex::Open(std::string bytes, size_t num_blocks,
                                                   uint32_t granule_blocks) {
  std::shared_ptr<ValueIndex> opened(new ValueIndex(std::move(bytes), num_blocks, granule_blocks));
  Result<GranuleIndex> index = GranuleIndex::Open(AsBytes(opened->bytes_));
  if (!index.ok()) return nullptr;
  if (index->num_granules() != (num_blocks + granule_blocks - 1) / granule_blocks) return nullptr;
  opened->index_ = *std::move(index);
  return opened;
}

const ColumnIndex* ValueIndex::Find(const Column& column) const {
  const std::string definition = column.ToText();
  for (size_t i = 0; i < index_->num_columns(); ++i) {
    if (index_->column(i).name == definition) return &index_->column_index(i);
  }
  return nullptr;
}

GranuleSet ValueIndex::CandidateBlocks(const Predicate& predicate, Sequence sequence) const {
  const auto num_granules = static_cast<size_t>(index_->num_granules());
  const GranuleSet granules =
      predicate.Candidates(num_granules, [this](const Column& column) { return Find(column); });
  GranuleSet blocks = GranuleSet::None(num_blocks_);
  for (size_t block = 0; block < num_blocks_; ++block) {
    const size_t granule = block / granule_blocks_;
    if (granules.Has(granule) && index_->MinSequence(granule) <= sequence) blocks.Add(block);
  }
  return blocks;
}

bool ValueIndex::Admits(size_t block, const Entry& entry,
                        const std::vector<Column>& columns) const {
  if (entry.type != EntryType::kPut) return true;
  const size_t granule = block / granule_blocks_;
  GranuleSet admitted = GranuleSet::None(static_cast<size_t>(index_->num_granules()));
  admitted.Add(granule);
  for (const Column& column : columns) {
    const ColumnIndex* const index = Find(column);
    if (index == nullptr) continue;
    bool has_values = false;
    column.ForEachIndexed(entry.value, [&](const Value& value) {
      index->KeepContaining(value.Hash(), &admitted);
      index->KeepOverlapping({.low = value, .high = value}, &admitted);
      has_values = true;
      return true;
    });
    has_values ? index->KeepPresent(&admitted) : index->KeepMissing(&admitted);
  }
  return admitted.Has(granule) && index_->MinSequence(granule) <= entry.sequence;
}

}  // namespace blocksieve::toylsm
