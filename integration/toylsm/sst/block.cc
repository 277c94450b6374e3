#include "integration/toylsm/sst/block.h"

#include <zstd.h>

#include <utility>

#include "lib/base/coding.h"
#include "lib/hash/checksum.h"

namespace blocksieve::toylsm {

// Of raw to stored bytes: whoever makes up a file cannot have a reader allocate much more than it.
constexpr uint64_t kMaxRatio = 256;

std::string CompressBlock(std::string_view raw, int zstd_level, BlockHandle* handle) {
  std::string stored(ZSTD_compressBound(raw.size()), '\0');
  const size_t size =
      ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), zstd_level);
  if (ZSTD_isError(size) != 0 || size >= raw.size() || raw.size() / kMaxRatio > size) {
    stored = raw;
  } else {
    stored.resize(size);
  }
  handle->stored_bytes = stored.size();
  handle->raw_bytes = raw.size();
  handle->checksum = Checksum(AsBytes(stored));
  return stored;
}

Result<std::string> UncompressBlock(std::string stored, const BlockHandle& handle) {
  if (Checksum(AsBytes(stored)) != handle.checksum) {
    return Status::Corruption("checksum of a block");
  }
  if (handle.stored_bytes == handle.raw_bytes) return stored;
  if (handle.raw_bytes / kMaxRatio > handle.stored_bytes) {
    return Status::Corruption("length of a compressed block");
  }
  std::string raw(static_cast<size_t>(handle.raw_bytes), '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (size != raw.size()) return Status::Corruption("a compressed block");
  return raw;
}

void AppendEntry(std::string* raw_block, const Entry& entry) {
  AppendVarint(raw_block, entry.key.size());
  AppendVarint(raw_block, entry.value.size());
  AppendVarint(raw_block, entry.sequence << 1 | static_cast<uint64_t>(entry.type));
  raw_block->append(entry.key);
  raw_block->append(entry.value);
}

Result<std::shared_ptr<const Block>> ParseDataBlock(std::string raw) {
  auto block = std::make_shared<Block>(Block::Kind::kData, std::move(raw));
  Decoder decoder(AsBytes(block->bytes));
  while (decoder.ok() && !decoder.rest().empty()) {
    Entry entry;
    const uint64_t key_bytes = decoder.Varint();
    const uint64_t value_bytes = decoder.Varint();
    const uint64_t tag = decoder.Varint();
    entry.key = AsText(decoder.Bytes(key_bytes));
    entry.value = AsText(decoder.Bytes(value_bytes));
    entry.sequence = tag >> 1;
    entry.type = static_cast<EntryType>(tag & 1);
    if (!block->entries.empty() && !(block->entries.back().position() < entry.position())) {
      return Status::Corruption("a data block out of order");
    }
    block->entries.push_back(entry);
  }
  if (!decoder.ok() || block->entries.empty()) return Status::Corruption("a data block");
  return std::shared_ptr<const Block>(std::move(block));
}

Result<std::shared_ptr<const Block>> ParseFilterBlock(std::string raw) {
  auto block = std::make_shared<Block>(Block::Kind::kFilter, std::move(raw));
  block->filter = FilterReader::Open(AsBytes(block->bytes));
  block->ranges = RangeFilterReader::Open(AsBytes(block->bytes));
  return std::shared_ptr<const Block>(std::move(block));
}

std::shared_ptr<const Block> BlockCache::Find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = positions_.find(key);
  if (found == positions_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void BlockCache::Insert(const Key& key, std::shared_ptr<const Block> block) {
  const std::lock_guard lock(mutex_);
  if (positions_.count(key) != 0) return;
  // Whatever may throw comes first.
  Entries entry;
  entry.emplace_front(key, std::move(block));
  positions_[key] = entry.begin();
  BytesOf(*entry.front().second) += entry.front().second->memory_bytes();
  entries_.splice(entries_.begin(), entry);
  while (bytes_[0] + bytes_[1] > capacity_bytes_) {
    BytesOf(*entries_.back().second) -= entries_.back().second->memory_bytes();
    positions_.erase(entries_.back().first);
    entries_.pop_back();
  }
}

void BlockCache::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  positions_.clear();
  bytes_[0] = bytes_[1] = 0;
}

uint64_t BlockCache::resident_bytes(Block::Kind kind) const {
  const std::lock_guard lock(mutex_);
  return bytes_[static_cast<size_t>(kind)];
}

}  // namespace blocksieve::toylsm
