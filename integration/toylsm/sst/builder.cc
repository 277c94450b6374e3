#include "integration/toylsm/sst/builder.h"

#include <cassert>
#include <limits>
#include <utility>

namespace blocksieve::toylsm {

Result<FilterBuilders> FilterBuilders::Create(const Options& options,
                                              const std::optional<FilterOptions>& key_filter) {
  FilterBuilders builders;
  Status status;
  const auto keep = [&status](auto result, auto* builder) {
    if (!result.ok()) status = result.status();
    if (result.ok()) *builder = *std::move(result);
  };
  if (key_filter) keep(FilterBuilder::Create(*key_filter), &builders.keys);
  if (!options.skip_index.columns.empty()) {
    SkipIndexOptions values = options.skip_index;
    values.granule_rows = values.granule_bytes = 0;  // no limits: granules end with data blocks
    keep(SkipIndexBuilder::Create(values, /*has_keys=*/false), &builders.values);
  }
  if (!status.ok()) return status;
  return builders;
}

Result<std::unique_ptr<SstBuilder>> SstBuilder::Create(
    const Options& options, const std::optional<FilterOptions>& key_filter, const std::string& path,
    FileInfo info) {
  Result<FilterBuilders> builders = FilterBuilders::Create(options, key_filter);
  if (!builders.ok()) return builders.status();
  Result<std::unique_ptr<WritableFile>> file = options.env->NewWritableFile(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<SstBuilder> builder(
      new SstBuilder(options, *std::move(builders), *std::move(file), info));
  constexpr uint32_t kWholeFile = std::numeric_limits<uint32_t>::max();
  const uint32_t granule_blocks = options.filter_granule_blocks;
  if (key_filter) {
    builder->index_.filter_granule_blocks = granule_blocks == 0 ? kWholeFile : granule_blocks;
  }
  return builder;
}

Status SstBuilder::Add(const Entry& entry) {
  assert(index_.num_entries == 0 || entry.key > last_key_);
  if (block_.size() >= options_.block_bytes) {
    Status status = FinishBlock();
    if (!status.ok()) return status;
  }
  if (index_.num_entries++ == 0) index_.first_key = entry.key;
  last_key_ = entry.key;
  AppendEntry(&block_, entry);
  // Deletes, too: a key that is deleted here must not be looked up in older runs.
  if (builders_.keys) builders_.keys->AddKey(entry.key);
  // Granules are identified by number, so the index needs no keys. A delete has no value to index:
  // scans re-check what it hides.
  if (builders_.values && entry.value) builders_.values->AddRow({}, *entry.value);
  block_has_values_ |= entry.value.has_value();
  return Status::Ok();
}

Status SstBuilder::FinishBlock() {
  SstIndex::DataBlock& block = index_.blocks.emplace_back();
  block.last_key = last_key_;
  Status status = WriteBlock(block_, &block.handle);
  block_.clear();
  if (builders_.values) {
    // A granule without rows would shift the numbers of all following ones.
    if (!block_has_values_) builders_.values->AddEmptyRow({});
    builders_.values->CloseGranule();
  }
  block_has_values_ = false;
  const bool ends_granule =
      builders_.keys && index_.blocks.size() % index_.filter_granule_blocks == 0;
  return status.ok() && ends_granule ? FinishFilter() : status;
}

// Out of memory, the file is written without this filter, and its blocks are read without one.
Status SstBuilder::FinishFilter() {
  BlockHandle& handle = index_.filters.emplace_back();
  const Result<FinishedFilter> filter = builders_.keys->Finish();
  if (!filter.ok()) return Status::Ok();
  return WriteBlock(AsText(filter->block.view()), &handle);
}

Status SstBuilder::WriteBlock(std::string_view raw, BlockHandle* handle) {
  handle->offset = num_bytes_;
  const std::string stored = CompressBlock(raw, options_.zstd_level, handle);
  num_bytes_ += stored.size();
  return file_->Append(stored);
}

Result<FileInfo> SstBuilder::Finish() {
  Status status = FinishBlock();
  if (status.ok() && builders_.keys && builders_.keys->num_keys() > 0) status = FinishFilter();
  if (status.ok() && builders_.values) {
    const Result<FinishedSkipIndex> skip_index = builders_.values->Finish();
    if (skip_index.ok()) status = WriteBlock(skip_index->bytes, &index_.skip_index);
  }
  if (status.ok()) status = WriteBlock(index_.Encode(), &info_.index);
  if (status.ok()) status = file_->Sync();
  if (!status.ok()) return status;
  return info_;
}

}  // namespace blocksieve::toylsm
