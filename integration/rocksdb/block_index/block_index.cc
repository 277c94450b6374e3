// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/block_index.h"

#include <algorithm>
#include <new>

#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Whether there is no key between both.
bool IsJustAfter(const rocksdb::Slice& bound, const std::string& key) {
  return bound.size() == key.size() + 1 && bound.starts_with(key) && bound[key.size()] == '\0';
}

// A filter whose bytes are those that were written, or one that always may match.
Filter OpenSound(ByteView section) {
  return Filter::Verify(section).ok() ? Filter::Open(section) : Filter();
}

}  // namespace

Result<BlockIndex> BlockIndex::Open(ByteView bytes, const rocksdb::Comparator* comparator) try {
  Decoder from(bytes);
  const ByteView magic = from.Bytes(sizeof(kBlockIndexMagic));
  if (AsText(magic) != std::string_view(kBlockIndexMagic, sizeof(kBlockIndexMagic))) {
    return Status::Corruption("block index: another magic number");
  }
  if (from.Fixed<char>() != kBlockIndexVersion) {
    return Status::NotSupported("block index: written by a later version of this library");
  }
  const auto options_id = from.Fixed<uint32_t>();
  SidecarId id;
  for (uint64_t& half : id) half = from.Fixed<uint64_t>();
  const uint64_t num_entries = from.Varint();
  const uint64_t entry_bytes = from.Varint();
  const uint64_t suffix_bytes = from.Varint();
  const uint64_t range_bytes = from.Varint();
  const uint64_t prefix_bytes = from.Varint();
  const uint64_t value_bytes = from.Varint();
  const bool is_bytewise = comparator == rocksdb::BytewiseComparator();
  BlockIndex index;
  index.comparator_ = comparator;
  index.num_bytes_ = bytes.size();
  index.options_id_ = options_id;
  index.id_ = id;
  index.value_suffix_bytes_ = static_cast<uint32_t>(suffix_bytes);
  BLOCKSIEVE_RETURN_IF_ERROR(
      Entries::Open(num_entries, entry_bytes, &from, comparator, &index.entries_));
  const ByteView summed = bytes.first(bytes.size() - from.rest().size());
  if (from.Fixed<uint32_t>() != Checksum(summed)) {
    return Status::Corruption("block index: checksum mismatch");
  }
  const ByteView ranges = from.Bytes(range_bytes);
  const ByteView prefixes = from.Bytes(prefix_bytes);
  if (is_bytewise) {
    index.ranges_ = OpenSound(ranges);
    index.prefixes_ = OpenSound(prefixes);
  }
  if (value_bytes == 0) return index;
  Result<SkipIndex> values = SkipIndex::Open(from.Bytes(value_bytes));
  if (values.ok() && values->num_granules() == index.entries_.size()) {
    index.values_ = *std::move(values);
  }
  return index;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

std::optional<GranuleSet> BlockIndex::BlocksToRead(const Predicate& condition,
                                                   BlockRule rule) const {
  const auto find = [&](PruneColumns by) -> std::optional<GranuleSet> {
    if (!values_ || !values_->CanPrune(condition, by)) return std::nullopt;
    return values_->Candidates(condition, by);
  };
  std::optional<GranuleSet> by_keys;
  if (std::ranges::any_of(condition.columns(), &Column::is_of_key))
    by_keys = find(PruneColumns::kOfKey);
  std::optional<GranuleSet> all;
  if (rule != BlockRule::kByKeys) all = find(PruneColumns::kAll);
  std::vector<size_t> continued;
  EntryCursor entry(entries_);
  if (all) {
    for (entry.MoveTo(0); entry.Valid(); entry.Next()) {
      if (entry.continues()) continued.push_back(entry.index());
    }
  }
  return rocksdb_plugin::BlocksToRead(rule, std::move(all), std::move(by_keys), continued);
}

std::pair<std::optional<std::string>, std::string> BlockIndex::KeyRange(size_t block) const {
  EntryCursor entry(entries_);
  std::optional<std::string> low;
  if (block > 0) {
    entry.MoveTo(block - 1);
    low = entry.separator();
    // The key just after the separator, unless the key before it goes on.
    if (!entry.continues() && comparator_is_bytewise()) low->push_back('\0');
  }
  entry.MoveTo(block);
  return {std::move(low), entry.separator()};
}

uint64_t BlockIndex::memory_bytes() const {
  return num_bytes_ + ranges_.memory_bytes() + prefixes_.memory_bytes() +
         (values_ ? values_->memory_bytes() : 0);
}

std::shared_ptr<const GranuleSet> FileBlocks::Find(const BlockIndex& index) const noexcept try {
  std::call_once(once_, [&] {
    num_blocks_.store(index.entries().size(), std::memory_order_relaxed);
    const bool knows_values = index.value_suffix_bytes() == value_suffix_bytes_;
    std::optional<GranuleSet> blocks =
        index.BlocksToRead(*condition_, knows_values ? rule_ : BlockRule::kByKeys);
    if (!blocks) return;
    blocks_left_out_.store(blocks->num_granules() - blocks->Count(), std::memory_order_relaxed);
    blocks_ = std::make_shared<const GranuleSet>(*std::move(blocks));
  });
  return blocks_;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void BlockIndexIterator::Prepare(std::vector<AnnouncedRange> ranges, bool keeps_last) {
  ranges_ = std::move(ranges);
  keeps_last_ = keeps_last;
  next_range_ = 0;
  kept_range_ = 0;
  sought_range_ = nullptr;
  found_ = Found::kBlock;
}

bool BlockIndexIterator::MayContain(std::string_view begin, std::string_view end) const {
  const bool may_contain = index_.MayContainRange(begin, end);
  CountRangeQuery(may_contain ? RangeOutcome::kMayMatch : RangeOutcome::kNo);
  return may_contain;
}

// Of the range that the last Seek began.
std::optional<std::string_view> BlockIndexIterator::UpperBound() const {
  if (!index_.answers_ranges()) return std::nullopt;
  if (sought_range_ != nullptr) return sought_range_->end;
  if (read_.upper == nullptr) return std::nullopt;
  return read_.upper->ToStringView();
}

void BlockIndexIterator::MoveForward(size_t block) {
  const size_t num_blocks = index_.entries().size();
  while (block < num_blocks && IsLeftOut(block)) ++block;
  MoveTo(block);
}

void BlockIndexIterator::MoveBackward(size_t block) {
  const size_t num_blocks = index_.entries().size();
  while (block < num_blocks && IsLeftOut(block)) --block;  // below 0: SIZE_MAX
  MoveTo(block);
}

void BlockIndexIterator::MoveTo(size_t block) {
  found_ = Found::kBlock;
  cursor_.MoveTo(block);
  is_valid_ = cursor_.Valid();
}

// The next announced range. One without keys gets the first block of the next that may have some,
// which is read anyway: levels drop the iterator of a file, and announce all ranges again to a new
// one, where a range has no block.
void BlockIndexIterator::SeekToRange() {
  sought_range_ = &ranges_[next_range_];
  kept_range_ = std::max(kept_range_, next_range_++);
  for (; kept_range_ < ranges_.size(); ++kept_range_) {
    const auto& [begin, end] = ranges_[kept_range_];
    if (keeps_last_ && kept_range_ + 1 == ranges_.size()) break;
    if (!end || !index_.answers_ranges() || MayContain(begin, *end)) break;
  }
  is_valid_ = false;
  if (kept_range_ == ranges_.size()) return;
  cursor_.Seek(ranges_[kept_range_].begin, UINT64_MAX);
  MoveForward(cursor_.index());
}

void BlockIndexIterator::Seek(std::string_view key, uint64_t tag) {
  // Announced ranges are sought right after they are announced, in order, and only then.
  if (next_range_ < ranges_.size()) {
    if (ranges_[next_range_].begin == key) return SeekToRange();
    next_range_ = ranges_.size();
  }
  sought_range_ = nullptr;
  const std::optional<std::string_view> end = UpperBound();
  is_valid_ = false;
  if (end && read_.lower != nullptr && !MayContain(read_.lower->ToStringView(), *end)) {
    found_ = Found::kNothing;
    return;
  }
  cursor_.Seek(key, tag);
  if (end && cursor_.Valid() && !MayContain(key, *end)) {
    found_ = Found::kNothingAbove;
    target_.assign(key);
    return;
  }
  MoveForward(cursor_.index());
}

void BlockIndexIterator::SeekToLast() {
  const Found found = found_;
  if (found == Found::kBlock) return MoveBackward(index_.entries().size() - 1);
  found_ = Found::kBlock;
  is_valid_ = false;
  if (found == Found::kNothing) return;
  if (read_.lower == nullptr || MayContain(read_.lower->ToStringView(), target_)) {
    MoveBackward(cursor_.index());
  }
}

void BlockIndexIterator::Next() {
  if (!cursor_.Valid()) return;
  // All keys of the next block are above the separator. A scan of one block ends right after it.
  if (read_.upper != nullptr && sought_range_ == nullptr && !cursor_.continues() &&
      index_.comparator_is_bytewise() && IsJustAfter(*read_.upper, cursor_.separator())) {
    return MoveTo(index_.entries().size());
  }
  const std::optional<std::string_view> end = UpperBound();
  const auto ends_in = [&] {
    return index_.comparator().Compare(cursor_.separator(), rocksdb::Slice(*end)) >= 0;
  };
  const bool asks = end && !cursor_.continues() && !ends_in();
  if (asks) target_.assign(cursor_.separator()).push_back('\0');
  MoveForward(cursor_.index() + 1);
  // Blocks before the one in which the range ends have keys in it.
  if (asks && is_valid_ && ends_in()) is_valid_ = MayContain(target_, *end);
}

}  // namespace blocksieve::rocksdb_plugin
