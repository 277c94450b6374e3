// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/block_index/adapters.h"

#include <atomic>
#include <new>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "integration/rocksdb/block_index/file_id.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "lib/base/coding.h"

#if BLOCKSIEVE_HAS_USER_INDEX

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::IterateResult;
using rocksdb::Slice;
using rocksdb::UserDefinedIndexBuilder;
using rocksdb::UserDefinedIndexIterator;
using rocksdb::UserDefinedIndexReader;

class Builder final : public UserDefinedIndexBuilder {
 public:
  /// `account`: none if the index must not be left out for lack of room.
  Builder(BlockIndexBuilder builder, std::shared_ptr<IndexOffer> offer,
          std::optional<SstAccount> account)
      : builder_(std::move(builder)),
        note_(*offer),
        offer_(std::move(offer)),
        account_(std::move(account)) {}

  void OnKeyAdded(const Slice& key, ValueType type, const Slice& value) override {
    offer_.reset();
    builder_.Add({.key = key.ToStringView(),
                  .value = value.ToStringView(),
                  .type = type == kValue    ? EntryValue::kPlain
                          : type == kDelete ? EntryValue::kNone
                                            : EntryValue::kUnknown});
  }

  Slice AddIndexEntry(const Slice& last_key, const Slice* next_key, const BlockHandle& block,
                      std::string*, const IndexEntryContext& context) override {
    const std::string_view next = next_key == nullptr ? "" : next_key->ToStringView();
    return Slice(builder_.EndBlock(last_key.ToStringView(), next_key == nullptr ? nullptr : &next,
                                   {block.offset, block.size}, context.last_key_tag));
  }

  // RocksDB takes a block without bytes for "no index".
  rocksdb::Status Finish(Slice* contents) override {
    std::string_view bytes = builder_.Finish();
    if (account_ && note_->is_on_level && !bytes.empty() &&
        account_->Reserve(bytes.size(), bytes.size()) == 0)
      bytes = {};
    note_->num_bytes = bytes.size();
    *contents = Slice(bytes);
    return rocksdb::Status::OK();
  }

  uint64_t EstimatedSize() const override { return builder_.EstimatedBytes(); }

 private:
  BlockIndexBuilder builder_;
  const std::shared_ptr<IndexNote> note_;
  std::shared_ptr<IndexOffer> offer_;  // of the note; until the first entry
  const std::optional<SstAccount> account_;
};

class Iterator final : public UserDefinedIndexIterator {
 public:
  /// `last_prepared`: identifies the ranges that the last iterator of the file prepared.
  Iterator(const BlockIndex& index, BlockIndexRead read, std::atomic<uint64_t>* last_prepared)
      : iterator_(index, std::move(read)), last_prepared_(*last_prepared) {}

  void Prepare(const rocksdb::ScanOptions scans[], size_t num_scans) override try {
    std::vector<AnnouncedRange> ranges;
    for (size_t i = 0; i < num_scans; ++i) {
      const auto& [start, limit] = std::tie(scans[i].range.start, scans[i].range.limit);
      AnnouncedRange& range = ranges.emplace_back();
      if (start) range.begin = start->ToString();
      if (limit) range.end = limit->ToString();
    }
    // If they come again, a level had dropped the iterator at a range without a block. Iterators
    // would be made and dropped for range after range if the last one had no block either.
    uint64_t id = ranges.size();
    if (id != 0) id = WideChecksum(AsBytes(ranges.back().begin + ranges.front().begin), id);
    iterator_.Prepare(std::move(ranges), last_prepared_.exchange(id) == id);
  } catch (const std::bad_alloc&) {
    iterator_.Prepare({}, false);
  }

  rocksdb::Status SeekAndGetResult(const Slice& target, IterateResult* result,
                                   const SeekContext& context) override {
    return Move(result, [&] { iterator_.Seek(target.ToStringView(), context.target_tag); });
  }
  rocksdb::Status SeekToFirstAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.SeekToFirst(); });
  }
  rocksdb::Status SeekToLastAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.SeekToLast(); });
  }
  rocksdb::Status NextAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.Next(); });
  }
  rocksdb::Status PrevAndGetResult(IterateResult* result) override {
    return Move(result, [&] { iterator_.Prev(); });
  }

  UserDefinedIndexBuilder::BlockHandle value() override {
    const BlockHandle block = iterator_.entry().block();
    return {block.offset, block.size};
  }

 private:
  template <class Moves>
  rocksdb::Status Move(IterateResult* result, const Moves& moves) try {
    moves();
    // Not kOutOfBound at the end: the next file of the level may have rows for the iterator.
    result->bound_check_result =
        iterator_.Valid() ? rocksdb::IterBoundCheck::kInbound : rocksdb::IterBoundCheck::kUnknown;
    if (iterator_.Valid()) result->key = iterator_.entry().separator();
    return rocksdb::Status::OK();
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }

  BlockIndexIterator iterator_;
  std::atomic<uint64_t>& last_prepared_;
};

class Reader final : public UserDefinedIndexReader {
 public:
  explicit Reader(std::shared_ptr<const BlockIndex> index) : index_(std::move(index)) {}

  std::unique_ptr<UserDefinedIndexIterator> NewIterator(
      const rocksdb::ReadOptions& options) override try {
    if (index_ == nullptr) return nullptr;  // RocksDB makes it a Corruption of this read
    BlockIndexRead read;
    // Gets, compactions and others pass bounds too, and must see every entry.
    if (options.io_activity == rocksdb::Env::IOActivity::kDBIterator && !options.tailing) {
      read.lower = options.iterate_lower_bound;
      read.upper = options.iterate_upper_bound;
      // Null for another's choice, such as that of another copy of this plug-in.
      const auto* const choice = As<BlockIndexFactory>(options.table_index_factory);
      if (choice != nullptr) read.blocks = choice->Find(*index_);
    }
    return std::make_unique<Iterator>(*index_, std::move(read), &last_prepared_);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

  size_t ApproximateMemoryUsage() const override {
    return sizeof(*this) + (index_ != nullptr ? sizeof(*index_) + index_->memory_bytes() : 0);
  }

 private:
  const std::shared_ptr<const BlockIndex> index_;  // null: it cannot be read
  std::atomic<uint64_t> last_prepared_ = 0;
};

// The index that reads a copy of its bytes; null for null.
std::shared_ptr<const BlockIndex> CopyOf(const BlockIndex* index, const Slice& block,
                                         const rocksdb::Comparator* comparator) {
  if (index == nullptr) return nullptr;
  const auto bytes = std::make_shared<const std::string>(block.ToString());
  Result<BlockIndex> copy = BlockIndex::Open(AsBytes(*bytes), comparator);
  if (!copy.ok()) throw std::bad_alloc();  // these bytes were opened before
  struct Owned {
    std::shared_ptr<const std::string> bytes;
    BlockIndex index;
  };
  // By its copy: Clang before 16 initializes no aggregate in parentheses, as make_shared would.
  const auto owned = std::make_shared<const Owned>(Owned{bytes, *std::move(copy)});
  return {owned, &owned->index};
}

}  // namespace

// A null builder would make RocksDB write no block, which it refuses to read as primary index.
rocksdb::Status BlockIndexFactory::NewBuilder(
    const rocksdb::UserDefinedIndexOption& table,
    std::unique_ptr<UserDefinedIndexBuilder>& builder) const try {
  auto offer = OfferFileId();
  Result<BlockIndexBuilder> made =
      BlockIndexBuilder::Create(options_, table.comparator, (*offer)->id);
  if (!made.ok()) return ToRocksStatus(made.status());
  builder = std::make_unique<Builder>(*std::move(made), std::move(offer),
                                      is_primary_ ? std::nullopt : SstAccount::OpenCurrent());
  return rocksdb::Status::OK();
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

// Where an index is the primary one and cannot be read, reads of its file fail.
rocksdb::Status BlockIndexFactory::NewReader(const rocksdb::UserDefinedIndexOption& table,
                                             Slice& block,
                                             std::unique_ptr<UserDefinedIndexReader>& reader) const
    try {
  Result<BlockIndex> opened = BlockIndex::Open(AsBytes(block.ToStringView()), table.comparator);
  if (opened.status().code() == StatusCode::kResourceExhausted) throw std::bad_alloc();
  const std::string problem = opened.status().message();
  std::shared_ptr<const BlockIndex> index;
  if (opened.ok()) index = std::make_shared<const BlockIndex>(*std::move(opened));
  if (describes_ != nullptr) {
    *describes_ = {block.size(), CopyOf(index.get(), block, table.comparator), problem};
  } else if (index == nullptr) {
    LogLoudly(nullptr, "an index cannot be used; reason: ", problem);
  }
  reader = std::make_unique<Reader>(std::move(index));
  return rocksdb::Status::OK();
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

std::shared_ptr<const GranuleSet> BlockIndexFactory::Find(const BlockIndex& index) const {
  if (blocks_ == nullptr || index.id() == kNoFileId) return nullptr;
  const auto file = blocks_->find(index.id());
  return file == blocks_->end() ? nullptr : file->second.Find(index);
}

BlockIndexChoice NewBlockIndexChoice(const BlocksOfFiles* blocks) {
  return std::make_unique<const BlockIndexFactory>(EnableOptions(), blocks);
}

void ChooseIndex(const rocksdb::Customizable* choice, rocksdb::ReadOptions* options) {
  const rocksdb::UserDefinedIndexFactory*& option = options->table_index_factory;
  const auto* const present = As<BlockIndexFactory>(option);
  if (choice != nullptr || (present != nullptr && present->is_choice()))
    option = static_cast<const BlockIndexFactory*>(choice);
}

}  // namespace blocksieve::rocksdb_plugin

#else

namespace blocksieve::rocksdb_plugin {

BlockIndexChoice NewBlockIndexChoice(const BlocksOfFiles*) { return nullptr; }
void ChooseIndex(const rocksdb::Customizable*, rocksdb::ReadOptions*) {}

}  // namespace blocksieve::rocksdb_plugin

#endif
