// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/entries.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Low bits of the number that holds the size of a block.
constexpr uint64_t kContinues = 1;
constexpr uint64_t kHasOffset = 2;  // otherwise the block follows the one before
constexpr int kSizeShift = 2;

constexpr uint64_t kMaxFileBytes = UINT64_C(1) << 62;

Status Damaged() { return Status::Corruption("block index: entries are damaged"); }

}  // namespace

void EntryWriter::Add(std::string_view separator, BlockHandle block, bool continues,
                      uint64_t last_tag) {
  const bool is_restart = num_entries_++ % kRestartInterval == 0;
  if (is_restart) restarts_.push_back(static_cast<uint32_t>(entries_.size()));
  const size_t shared = is_restart ? 0 : SharedBytes(last_separator_, separator);
  const bool has_offset = is_restart || block.offset != next_offset_;
  AppendVarint(&entries_, shared);
  AppendVarint(&entries_, separator.size() - shared);
  entries_.append(separator.substr(shared));
  AppendVarint(&entries_, block.size << kSizeShift | (has_offset ? kHasOffset : 0) |
                              (continues ? kContinues : 0));
  if (has_offset) AppendVarint(&entries_, block.offset);
  if (continues) AppendLittleEndian(&entries_, last_tag);
  last_separator_.assign(separator);
  next_offset_ = block.offset + block.size + kBlockTrailerBytes;
}

void EntryWriter::AppendTo(std::string* out) const {
  out->append(entries_);
  for (const uint32_t restart : restarts_) AppendLittleEndian(out, restart);
}

Status Entries::Open(uint64_t num_entries, uint64_t entry_bytes, Decoder* from,
                     const rocksdb::Comparator* comparator, Entries* entries) {
  if (num_entries > entry_bytes || entry_bytes > UINT32_MAX) return Damaged();
  entries->entries_ = from->Bytes(entry_bytes);
  const uint64_t num_restarts = (num_entries + kRestartInterval - 1) / kRestartInterval;
  entries->restarts_ = from->Bytes(sizeof(uint32_t) * num_restarts);
  entries->num_entries_ = static_cast<size_t>(num_entries);
  entries->comparator_ = comparator;
  if (!from->ok()) return Damaged();
  EntryCursor cursor(*entries);
  cursor.rest_ = entries->entries_;
  std::string last;
  bool last_continues = false;
  for (size_t i = 0; i < num_entries; ++i) {
    const auto at = static_cast<uint64_t>(cursor.rest_.data() - entries->entries_.data());
    const bool is_restart = i % kRestartInterval == 0;
    if (is_restart && at != LoadLittleEndian<uint32_t>(entries->restarts_.data() +
                                                       i / kRestartInterval * sizeof(uint32_t))) {
      return Damaged();
    }
    const uint64_t end = cursor.block_.offset;
    if (is_restart) cursor.ForgetLast();
    if (!cursor.Decode() || cursor.block_.offset < end) return Damaged();
    const int order = i == 0 ? 1 : comparator->Compare(cursor.separator_, last);
    if (order < 0 || (order == 0 && !last_continues)) return Damaged();
    last = cursor.separator_;
    last_continues = cursor.continues_;
  }
  if (!cursor.rest_.empty() || last_continues) return Damaged();
  return Status::Ok();
}

bool EntryCursor::Decode() {
  Decoder from(rest_);
  const uint64_t shared = from.Varint();
  const ByteView further = from.Bytes(from.Varint());
  const uint64_t size = from.Varint();
  block_.offset += block_.size + kBlockTrailerBytes;
  if ((size & kHasOffset) != 0) block_.offset = from.Varint();
  block_.size = size >> kSizeShift;
  continues_ = (size & kContinues) != 0;
  last_tag_ = continues_ ? from.Fixed<uint64_t>() : 0;
  if (!from.ok() || shared > separator_.size() || block_.offset > kMaxFileBytes ||
      block_.size > kMaxFileBytes - block_.offset) {
    return false;
  }
  separator_.resize(static_cast<size_t>(shared));
  separator_.append(AsText(further));
  rest_ = from.rest();
  return true;
}

bool EntryCursor::MoveToRestart(size_t restart) {
  index_ = restart * kRestartInterval;
  ForgetLast();
  rest_ = entries_->entries_.subspan(
      LoadLittleEndian<uint32_t>(entries_->restarts_.data() + restart * sizeof(uint32_t)));
  return Decode();
}

void EntryCursor::MoveTo(size_t index) {
  if (index >= entries_->size()) {
    index_ = SIZE_MAX;
    return;
  }
  const size_t restart = index / kRestartInterval;
  if (!Valid() || index < index_ || index_ / kRestartInterval != restart) MoveToRestart(restart);
  for (; index_ < index; ++index_) Decode();
}

bool EntryCursor::IsBefore(std::string_view key, uint64_t tag) const {
  const int order = entries_->comparator_->Compare(separator_, key);
  // Later versions have lower tags; without a continuation the block has all versions of its key.
  return order < 0 || (order == 0 && continues_ && last_tag_ > tag);
}

void EntryCursor::Seek(std::string_view key, uint64_t tag) {
  if (entries_->size() == 0) return;
  size_t low = 0;  // the last restart before the target, or the first
  size_t high = (entries_->size() - 1) / kRestartInterval;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    MoveToRestart(middle);
    if (IsBefore(key, tag)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  MoveToRestart(low);
  while (Valid() && IsBefore(key, tag)) Next();
}

}  // namespace blocksieve::rocksdb_plugin
