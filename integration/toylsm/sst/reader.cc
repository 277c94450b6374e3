#include "integration/toylsm/sst/reader.h"

#include <algorithm>
#include <utility>

namespace blocksieve::toylsm {

Result<std::shared_ptr<SstReader>> SstReader::Open(Env* env, std::string path, const FileInfo& info,
                                                   const ReadContext& context) {
  Result<std::unique_ptr<ReadableFile>> file = env->OpenFile(path);
  if (!file.ok()) return file.status();
  std::shared_ptr<SstReader> reader(new SstReader(env, std::move(path), info, *std::move(file)));
  const uint64_t size = reader->file_->size();
  if (size != info.num_bytes || size < SstFooter::kBytes) {
    return reader->Problem(Status::Corruption("length of the file"), size);
  }
  const uint64_t footer_offset = size - SstFooter::kBytes;
  const auto footer_bytes = ReadExactly(*reader->file_, footer_offset, SstFooter::kBytes);
  if (!footer_bytes.ok()) return reader->Problem(footer_bytes.status(), footer_offset);
  const Result<SstFooter> footer = SstFooter::Decode(AsBytes(*footer_bytes));
  if (!footer.ok()) return reader->Problem(footer.status(), footer_offset);
  if (footer->file_number != info.number) {
    return reader->Problem(Status::Corruption("another file's contents"), footer_offset);
  }
  const Result<std::string> index_bytes = reader->ReadRaw(footer->index, context);
  if (!index_bytes.ok()) return index_bytes.status();
  Result<SstIndex> index = SstIndex::Decode(AsBytes(*index_bytes));
  if (!index.ok()) return reader->Problem(index.status(), footer->index.offset);
  reader->index_ = *std::move(index);
  context.counters->Add(Count::kBytesFromDisk, info.level, SstFooter::kBytes);
  context.counters->Add(Count::kBlockIndexBytes, info.level,
                        SstFooter::kBytes + footer->index.stored_bytes);
  return reader;
}

SstReader::~SstReader() {
  // What cannot be removed now is removed when the database is opened next.
  if (is_obsolete_) (void)env_->Remove(path_);
}

size_t SstReader::FindBlock(std::string_view key) const {
  const auto found = std::lower_bound(
      index_.blocks.begin(), index_.blocks.end(), key,
      [](const SstIndex::DataBlock& block, std::string_view k) { return block.last_key < k; });
  return static_cast<size_t>(found - index_.blocks.begin());
}

Status SstReader::Problem(const Status& status, uint64_t offset) const {
  const std::string text = path_ + " at byte " + std::to_string(offset) + ": " + status.message();
  switch (status.code()) {
    case StatusCode::kCorruption:
      return Status::Corruption(text);
    case StatusCode::kNotSupported:
      return Status::NotSupported(text);
    default:
      return Status::ResourceExhausted(text);
  }
}

Result<std::string> SstReader::ReadRaw(const BlockHandle& handle,
                                       const ReadContext& context) const {
  Result<std::string> stored = ReadExactly(*file_, handle.offset, handle.stored_bytes);
  if (!stored.ok()) return Problem(stored.status(), handle.offset);
  context.counters->Add(Count::kBytesFromDisk, info_.level, handle.stored_bytes);
  Result<std::string> raw = UncompressBlock(*std::move(stored), handle);
  if (!raw.ok()) return Problem(raw.status(), handle.offset);
  return raw;
}

Result<std::shared_ptr<const Block>> SstReader::ReadCached(const BlockHandle& handle,
                                                           Block::Kind kind,
                                                           const ReadContext& context) const {
  const bool is_data = kind == Block::Kind::kData;
  const BlockCache::Key key{info_.number, handle.offset};
  const auto cached = context.cache != nullptr ? context.cache->Find(key) : nullptr;
  // In a file that somebody made up, a block may be used as two kinds.
  if (cached != nullptr && cached->kind == kind) {
    context.counters->Add(is_data ? Count::kDataBlocksFromCache : Count::kFilterBlocksFromCache,
                          info_.level);
    context.counters->Add(Count::kBytesFromCache, info_.level, cached->bytes.size());
    return cached;
  }
  Result<std::string> raw = ReadRaw(handle, context);
  if (!raw.ok()) return raw.status();
  context.counters->Add(is_data ? Count::kDataBlocksFromDisk : Count::kFilterBlocksFromDisk,
                        info_.level);
  auto block = is_data ? ParseDataBlock(*std::move(raw)) : ParseFilterBlock(*std::move(raw));
  if (!block.ok()) return Problem(block.status(), handle.offset);
  if (context.cache != nullptr) context.cache->Insert(key, *block);
  return block;
}

Result<std::shared_ptr<const Block>> SstReader::ReadBlock(size_t block,
                                                          const ReadContext& context) const {
  const SstIndex::DataBlock& expected = index_.blocks[block];
  Result<std::shared_ptr<const Block>> read =
      ReadCached(expected.handle, Block::Kind::kData, context);
  if (!read.ok()) return read;
  // Entries out of order would hide what other files have.
  const std::string_view first = (*read)->entries.front().key;
  const bool begins_well =
      block == 0 ? first == first_key() : index_.blocks[block - 1].last_key < first;
  if (!begins_well || (*read)->entries.back().key != expected.last_key) {
    return Problem(Status::Corruption("the block index does not fit a data block"),
                   expected.handle.offset);
  }
  return read;
}

std::shared_ptr<const Block> SstReader::ReadFilter(size_t block, const ReadContext& context) const {
  if (!HasFilter(block)) return nullptr;
  // Whatever is wrong with a filter costs reads, never answers. The checksum matters: opening a
  // filter does not look at its bits.
  auto filter = ReadCached(FilterOf(block), Block::Kind::kFilter, context);
  if (filter.ok()) return *std::move(filter);
  context.counters->Add(Count::kFiltersUnreadable, info_.level);
  return nullptr;
}

bool SstReader::MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const {
  const size_t block = FindBlock(range.begin);
  if (block == num_blocks() || range.EndsAt(first_key())) return false;
  // The block index tells of some keys: they may be in the range.
  if (range.begin <= first_key() || !range.EndsAt(index_.blocks[block].last_key)) return true;
  const std::shared_ptr<const Block> filter = ReadFilter(block, context);
  if (filter == nullptr || !filter->ranges.is_ready()) return true;
  const auto may_match = [&](std::string_view key) { return filter->filter.MayMatch(key); };
  const bool may_have =
      filter->ranges.Ask(range.begin, *range.end, may_match) != RangeFilterReader::Answer::kNo;
  context.counters->Add(may_have ? Count::kRangePositives : Count::kRangeNegatives, info_.level);
  return may_have;
}

Result<std::optional<FoundEntry>> SstReader::Find(std::string_view key, Sequence sequence,
                                                  const ReadContext& context) const {
  const std::optional<FoundEntry> nothing;
  if (key < first_key()) return nothing;
  const size_t block_number = FindBlock(key);
  if (block_number == num_blocks()) return nothing;
  const std::shared_ptr<const Block> filter = ReadFilter(block_number, context);
  if (filter != nullptr && !filter->filter.MayMatch(key)) {
    context.counters->Add(Count::kFilterNegatives, info_.level);
    return nothing;
  }
  Result<std::shared_ptr<const Block>> block = ReadBlock(block_number, context);
  if (!block.ok()) return block.status();
  const std::vector<Entry>& entries = (*block)->entries;
  auto found = std::lower_bound(entries.begin(), entries.end(), Position{key},
                                [](const Entry& e, const Position& p) { return e.position() < p; });
  const bool has_key = found != entries.end() && found->key == key;
  if (filter != nullptr) {
    context.counters->Add(has_key ? Count::kFilterTruePositives : Count::kFilterFalsePositives,
                          info_.level);
  }
  while (found != entries.end() && found->key == key && found->sequence > sequence) ++found;
  if (found == entries.end() || found->key != key) return nothing;
  return std::optional<FoundEntry>({*found, *block});
}

std::shared_ptr<const FileSkipIndex> SstReader::skip_index(const ReadContext& context) const {
  if (index_.value_granule_blocks == 0) return nullptr;
  const std::lock_guard lock(skip_index_mutex_);
  if (!has_tried_skip_index_) {
    Result<std::string> raw = ReadRaw(index_.skip_index, context);
    // What is damaged stays so; what failed for another reason is tried again.
    has_tried_skip_index_ = raw.ok() || raw.status().code() == StatusCode::kCorruption;
    if (raw.ok()) {
      context.counters->Add(Count::kSkipIndexBytes, info_.level, index_.skip_index.stored_bytes);
      opened_skip_index_ =
          FileSkipIndex::Open(*std::move(raw), num_blocks(), index_.value_granule_blocks);
    }
  }
  return opened_skip_index_;
}

Status VerifyFile(const SstReader& file, const std::vector<Column>& columns,
                  const ReadContext& context) {
  const std::string name = "file " + std::to_string(file.info().number) + ": ";
  const auto skip_index = file.skip_index(context);
  if (skip_index == nullptr && file.index().value_granule_blocks != 0) {
    return Status::Corruption(name + "the skip index cannot be read");
  }
  uint64_t num_entries = 0;
  for (size_t i = 0; i < file.num_blocks(); ++i) {
    const auto block = file.ReadBlock(i, context);
    if (!block.ok()) return block.status();
    const std::vector<Entry>& entries = (*block)->entries;
    num_entries += entries.size();
    const auto filter = file.ReadFilter(i, context);
    if (filter == nullptr && file.HasFilter(i)) {
      return Status::Corruption(name + "a filter cannot be read");
    }
    for (const Entry& entry : entries) {
      if (filter != nullptr && !filter->filter.MayMatch(entry.key)) {
        return Status::Corruption(name + "a filter denies a key that is there");
      }
      const std::string behind = std::string(entry.key) + '\0';
      if (filter != nullptr && !filter->ranges.MayContain(entry.key, behind)) {
        return Status::Corruption(name + "a filter denies a range with a key that is there");
      }
      if (skip_index != nullptr && !skip_index->Admits(i, entry, columns)) {
        return Status::Corruption(name + "the skip index denies a value that is there");
      }
    }
  }
  if (num_entries != file.index().num_entries) {
    return Status::Corruption(name + "number of entries");
  }
  return Status::Ok();
}

}  // namespace blocksieve::toylsm
