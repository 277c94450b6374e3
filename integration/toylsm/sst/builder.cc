// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/sst/builder.h"

#include <cassert>
#include <limits>
#include <utility>

#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::toylsm {

Result<FilterBuilders> FilterBuilders::Create(const Options& options,
                                              const std::optional<FilterOptions>& key_filter) {
  FilterBuilders builders;
  if (key_filter) {
    BLOCKSIEVE_ASSIGN_OR_RETURN(builders.keys, FilterBuilder::Create(*key_filter));
  }
  if (!options.skip_index.columns.empty()) {
    SkipIndexOptions values = options.skip_index;
    values.granule_rows = values.granule_bytes = 0;  // no limits: granules end with data blocks
    BLOCKSIEVE_ASSIGN_OR_RETURN(builders.values, SkipIndexBuilder::Create(values, false));
  }
  return builders;
}

Result<std::unique_ptr<SstBuilder>> SstBuilder::Create(
    const Options& options, const std::optional<FilterOptions>& key_filter, const std::string& path,
    FileInfo info) {
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto builders, FilterBuilders::Create(options, key_filter));
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto file, options.env->NewWritableFile(path));
  std::unique_ptr<SstBuilder> builder(
      new SstBuilder(options, std::move(builders), std::move(file), info));
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
    BLOCKSIEVE_RETURN_IF_ERROR(FinishBlock());
  }
  if (index_.num_entries++ == 0) index_.first_key = entry.key;
  last_key_ = entry.key;
  AppendEntry(&block_, entry);
  // Deletes, too: a key that is deleted here must not be looked up in older runs.
  if (builders_.keys) builders_.keys->AddKey(entry.key);
  // A delete has nothing to index: scans re-check what it hides.
  if (builders_.values && entry.value) builders_.values->AddRow(entry.key, *entry.value);
  block_has_values_ |= entry.value.has_value();
  return Status::Ok();
}

Status SstBuilder::FinishBlock() {
  SstIndex::DataBlock& block = index_.blocks.emplace_back();
  block.last_key = last_key_;
  BLOCKSIEVE_RETURN_IF_ERROR(WriteBlock(block_, &block.handle));
  block_.clear();
  if (builders_.values) {
    // A granule without rows would shift the numbers of all following ones.
    if (!block_has_values_) builders_.values->AddEmptyRow({});
    builders_.values->CloseGranule();
  }
  block_has_values_ = false;
  const bool ends_granule =
      builders_.keys && index_.blocks.size() % index_.filter_granule_blocks == 0;
  return ends_granule ? FinishFilter() : Status::Ok();
}

// Out of memory, the file is written without this filter, and its blocks are read without one.
Status SstBuilder::FinishFilter() {
  BlockHandle& handle = index_.filters.emplace_back();
  const Result<FinishedFilter> filter = builders_.keys->Finish();
  if (!filter.ok()) return Status::Ok();
  return WriteBlock(AsText(filter->block.view()), &handle);
}

Status SstBuilder::WriteBlock(std::string_view raw, BlockHandle* handle) {
  *handle = {.offset = num_bytes_, .num_bytes = raw.size(), .checksum = Checksum(AsBytes(raw))};
  num_bytes_ += raw.size();
  return file_->Append(raw);
}

Result<FileInfo> SstBuilder::Finish() {
  BLOCKSIEVE_RETURN_IF_ERROR(FinishBlock());
  if (builders_.keys && builders_.keys->num_keys() > 0) BLOCKSIEVE_RETURN_IF_ERROR(FinishFilter());
  if (builders_.values) {
    const Result<FinishedSkipIndex> skip_index = builders_.values->Finish();
    if (skip_index.ok()) {
      BLOCKSIEVE_RETURN_IF_ERROR(WriteBlock(skip_index->bytes, &index_.skip_index));
    }
  }
  BLOCKSIEVE_RETURN_IF_ERROR(WriteBlock(index_.Encode(), &info_.index));
  BLOCKSIEVE_RETURN_IF_ERROR(file_->Sync());
  return info_;
}

}  // namespace blocksieve::toylsm
