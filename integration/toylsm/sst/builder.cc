#include "integration/toylsm/sst/builder.h"

#include <cassert>
#include <limits>
#include <utility>

namespace blocksieve::toylsm {

Result<std::unique_ptr<SstBuilder>> SstBuilder::Create(const Options& options,
                                                       const KeyFilterOptions& key_filter,
                                                       const std::string& path, uint64_t number,
                                                       int level) {
  Result<std::unique_ptr<WritableFile>> file = options.env->NewWritableFile(path);
  if (!file.ok()) return file.status();
  const FileInfo info{.number = number, .level = level};
  std::unique_ptr<SstBuilder> builder(new SstBuilder(options, *std::move(file), info));
  if (key_filter.enabled) {
    Result<FilterBuilder> filter =
        FilterBuilder::Create({.kind = key_filter.kind, .target_fpr = key_filter.target_fpr});
    if (!filter.ok()) return filter.status();
    builder->filter_ = *std::move(filter);
    builder->index_.filter_granule_blocks = options.filter_granule_blocks != 0
                                                ? options.filter_granule_blocks
                                                : std::numeric_limits<uint32_t>::max();
  }
  if (key_filter.enabled && key_filter.range_fpr != 0) {
    Result<RangeFilterBuilder> ranges = RangeFilterBuilder::Create(
        {.range_fpr = key_filter.range_fpr, .is_whole_file = options.filter_granule_blocks == 0});
    if (!ranges.ok()) return ranges.status();
    builder->ranges_ = *std::move(ranges);
  }
  if (!options.value_columns.empty()) {
    Result<FileSkipIndexBuilder> skip_index = FileSkipIndexBuilder::Create(options);
    if (!skip_index.ok()) return skip_index.status();
    builder->skip_index_ = *std::move(skip_index);
  }
  return builder;
}

Status SstBuilder::Add(const Entry& entry) {
  assert(index_.num_entries == 0 || entry.key >= last_key_);
  const bool is_new_key = index_.num_entries == 0 || entry.key != last_key_;
  if (is_new_key && block_.size() >= options_.block_bytes) {
    Status status = FinishBlock();
    if (!status.ok()) return status;
  }
  if (index_.num_entries == 0) index_.first_key = entry.key;
  ++index_.num_entries;
  last_key_ = entry.key;
  AppendEntry(&block_, entry);
  // Deletes too: a key that is deleted here must not be looked for below.
  if (filter_ && is_new_key) filter_->AddKey(entry.key);
  if (ranges_ && is_new_key) ranges_->AddKey(entry.key);
  if (skip_index_) skip_index_->Add(entry);
  return Status::Ok();
}

Status SstBuilder::FinishBlock() {
  SstIndex::DataBlock& block = index_.blocks.emplace_back();
  block.last_key = last_key_;
  Status status = WriteBlock(block_, &block.handle);
  block_.clear();
  if (skip_index_) skip_index_->FinishBlock();
  if (status.ok() && filter_ && index_.blocks.size() % index_.filter_granule_blocks == 0) {
    status = FinishFilter();
  }
  return status;
}

Status SstBuilder::FinishFilter() {
  BlockHandle& handle = index_.filters.emplace_back();
  Result<OwnedBytes> filter = filter_->Finish();
  // Short of memory: none, and the blocks are read. The next granule's ranges then have these keys,
  // too, which does no harm.
  if (!filter.ok()) return Status::Ok();
  // Of keys that are too much alike there are no ranges, nor if memory is short.
  if (ranges_) (void)ranges_->Finish(&*filter);
  return WriteBlock(AsText(filter->view()), &handle);
}

Status SstBuilder::FinishSkipIndex() {
  const Result<std::string> bytes = skip_index_->Finish();
  if (!bytes.ok()) return Status::Ok();  // as for filters
  index_.value_granule_blocks = options_.value_granule_blocks;
  return WriteBlock(*bytes, &index_.skip_index);
}

Status SstBuilder::WriteBlock(std::string_view raw, BlockHandle* handle) {
  handle->offset = num_bytes_;
  const std::string stored = CompressBlock(raw, options_.zstd_level, handle);
  num_bytes_ += stored.size();
  return file_->Append(stored);
}

Result<FileInfo> SstBuilder::Finish() {
  Status status = FinishBlock();
  if (status.ok() && filter_ && filter_->num_keys() > 0) status = FinishFilter();
  if (status.ok() && skip_index_) status = FinishSkipIndex();
  SstFooter footer;
  footer.file_number = info_.number;
  if (status.ok()) status = WriteBlock(index_.Encode(), &footer.index);
  if (status.ok()) status = file_->Append(footer.Encode());
  if (status.ok()) status = file_->Sync();
  if (!status.ok()) return status;
  info_.num_bytes = num_bytes_ + SstFooter::kBytes;
  return info_;
}

}  // namespace blocksieve::toylsm
