// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/comparator.h>

#include "integration/rocksdb/block_index/block_index.h"
#include "tests/fuzz/fuzz.h"

// Any bytes as a block index. Whatever it says, moves end, and stay among its blocks.

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::Require;

// The bytes with the checksum that their entries have, if they are long enough.
std::optional<std::string> Reseal(ByteView bytes) {
  Decoder from(bytes);
  from.Bytes(sizeof(kBlockIndexMagic) + 1 + sizeof(uint32_t) + sizeof(SidecarId));
  const uint64_t num_entries = from.Varint();
  const uint64_t entry_bytes = from.Varint();
  for (int field = 0; field < 4; ++field) from.Varint();
  Entries entries;
  const rocksdb::Comparator* const order = rocksdb::BytewiseComparator();
  if (!Entries::Open(num_entries, entry_bytes, &from, order, &entries).ok()) return std::nullopt;
  const ByteView summed = bytes.first(bytes.size() - from.rest().size());
  if (from.rest().size() < sizeof(uint32_t)) return std::nullopt;
  std::string sealed(AsText(summed));
  AppendLittleEndian(&sealed, Checksum(summed));
  return sealed.append(AsText(from.rest().subspan(sizeof(uint32_t))));
}

void Walk(const BlockIndex& index, BlockIndexRead read, const std::string& key) {
  const size_t num_blocks = index.entries().size();
  BlockIndexIterator iterator(index, std::move(read));
  size_t steps = 0;
  for (iterator.SeekToFirst(); iterator.Valid(); iterator.Next()) ++steps;
  Require(steps <= num_blocks, "a block is visited once");
  iterator.Seek(key, 7);
  for (steps = 0; iterator.Valid(); iterator.Prev()) ++steps;
  Require(steps <= num_blocks, "a block is visited once on the way back");
  iterator.SeekToLast();
  iterator.Prepare({{"", key}, {key, std::nullopt}}, steps % 2 == 0);
  iterator.Seek("", UINT64_MAX);
  iterator.Seek(key, UINT64_MAX);
  Require(!iterator.Valid() || iterator.entry().index() < num_blocks, "a block of the file");
}

void CheckIndex(ByteView bytes) {
  static const std::vector<Column> columns = {*Column::Parse("n=int:field:1")};
  static const Predicate condition = *Predicate::Parse("n = 7", columns);
  const Result<BlockIndex> index = BlockIndex::Open(bytes, rocksdb::BytewiseComparator());
  if (!index.ok()) return;
  const std::optional<GranuleSet> blocks =
      index->BlocksToRead(condition, static_cast<BlockRule>(bytes.size() % 3));
  Require(!blocks || blocks->num_granules() == index->entries().size(), "granules are blocks");
  const std::string key(AsText(bytes.first(bytes.size() % 16)));
  Walk(*index, {}, key);
  const rocksdb::Slice lower("k");
  const rocksdb::Slice upper("l");
  Walk(*index,
       {.lower = &lower,
        .upper = &upper,
        .blocks = blocks ? std::make_shared<const GranuleSet>(*blocks) : nullptr},
       key);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin

void blocksieve::testing::TestOneInput(ByteView bytes) {
  rocksdb_plugin::CheckIndex(bytes);
  if (const auto sealed = rocksdb_plugin::Reseal(bytes)) {
    rocksdb_plugin::CheckIndex(AsBytes(*sealed));
  }
}
