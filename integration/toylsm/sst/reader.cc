// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/sst/reader.h"

#include <algorithm>
#include <utility>

#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::toylsm {

Result<std::shared_ptr<SstReader>> SstReader::Open(Env* env, const std::string& path,
                                                   const FileInfo& info, Counters* counters) {
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto file, env->OpenFile(path));
  std::shared_ptr<SstReader> reader(new SstReader(path, info, std::move(file)));
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto bytes, reader->ReadRaw(info.index, counters));
  BLOCKSIEVE_ASSIGN_OR_RETURN(reader->index_, SstIndex::Decode(AsBytes(bytes)));
  counters->block_index_bytes += info.index.num_bytes;
  reader->OpenSkipIndex(counters);
  return reader;
}

// An unreadable index costs reads; results stay correct.
void SstReader::OpenSkipIndex(Counters* counters) {
  if (index_.skip_index.num_bytes == 0) return;
  Result<std::string> raw = ReadRaw(index_.skip_index, counters);
  if (!raw.ok()) return;
  skip_index_bytes_ = *std::move(raw);
  Result<SkipIndex> opened = SkipIndex::Open(AsBytes(skip_index_bytes_));
  if (opened.ok() && opened->num_granules() == num_blocks()) skip_index_ = *std::move(opened);
}

size_t SstReader::FindBlock(std::string_view key) const {
  const auto found = std::lower_bound(
      index_.blocks.begin(), index_.blocks.end(), key,
      [](const SstIndex::DataBlock& block, std::string_view k) { return block.last_key < k; });
  return static_cast<size_t>(found - index_.blocks.begin());
}

Result<std::string> SstReader::ReadRaw(const BlockHandle& handle, Counters* counters) const {
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto raw, file_->Read(handle.offset, handle.num_bytes));
  counters->bytes_from_disk += handle.num_bytes;
  if (Checksum(AsBytes(raw)) == handle.checksum) return raw;
  return Status::Corruption(path_ + " at byte " + std::to_string(handle.offset) +
                            ": block checksum mismatch");
}

Result<std::shared_ptr<const Block>> SstReader::ReadCached(const BlockHandle& handle,
                                                           Block::Kind kind,
                                                           const ReadContext& context) const {
  Counters* const counters = context.counters;
  const bool is_data = kind == Block::Kind::kData;
  const BlockCache::Key key{info_.number, handle.offset};
  if (auto cached = context.cache != nullptr ? context.cache->Find(key) : nullptr) {
    ++(is_data ? counters->data_blocks_from_cache : counters->filter_blocks_from_cache);
    return cached;
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(auto raw, ReadRaw(handle, counters));
  ++(is_data ? counters->data_blocks_from_disk : counters->filter_blocks_from_disk);
  BLOCKSIEVE_ASSIGN_OR_RETURN(
      auto block, is_data ? ParseDataBlock(std::move(raw)) : ParseFilterBlock(std::move(raw)));
  if (context.cache != nullptr) context.cache->Insert(key, block);
  return block;
}

std::shared_ptr<const Block> SstReader::ReadFilter(size_t block, const ReadContext& context) const {
  if (index_.filters.empty()) return nullptr;
  const BlockHandle& handle = index_.filters[block / index_.filter_granule_blocks];
  if (handle.num_bytes == 0) return nullptr;
  // An unreadable filter costs reads; results stay correct. The block's checksum is needed: opening
  // a filter checks its footer, not its bits.
  auto filter = ReadCached(handle, Block::Kind::kFilter, context);
  if (filter.ok()) return *std::move(filter);
  ++context.counters->filters_unreadable;
  return nullptr;
}

Result<Found> SstReader::Find(std::string_view key, const ReadContext& context) const {
  if (key < first_key() || key > last_key()) return Found();
  Counters* const counters = context.counters;
  const size_t block_number = FindBlock(key);
  const std::shared_ptr<const Block> filter = ReadFilter(block_number, context);
  if (filter != nullptr && !filter->filter.MayContain(key)) {
    ++counters->filter_negatives;
    return Found();
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto block, ReadBlock(block_number, context));
  const auto& entries = block->entries;
  const size_t found = block->FindEntry(key);
  const bool has_key = found < entries.size() && entries[found].key == key;
  if (filter != nullptr) {
    ++(has_key ? counters->filter_true_positives : counters->filter_false_positives);
  }
  if (!has_key) return Found();
  return Found{.has_key = true, .value = std::optional<std::string>(entries[found].value)};
}

bool SstReader::MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const {
  if (range.begin > last_key() || range.EndsAt(first_key())) return false;
  // The block index has some keys: the first of the file, and the last of each block.
  const size_t block = FindBlock(range.begin);
  if (range.begin <= first_key() || !range.EndsAt(index_.blocks[block].last_key)) return true;
  // The range is within one block, so one filter has all its keys.
  const std::shared_ptr<const Block> filter = ReadFilter(block, context);
  if (filter == nullptr || filter->filter.MayContainRange(range.begin, *range.end)) return true;
  ++context.counters->range_negatives;
  return false;
}

}  // namespace blocksieve::toylsm
