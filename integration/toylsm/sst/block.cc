// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/sst/block.h"

#include "lib/base/coding.h"

namespace blocksieve::toylsm {
namespace {

void AppendBytes(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

}  // namespace

void AppendHandle(std::string* out, const BlockHandle& handle) {
  AppendVarint(out, handle.offset);
  AppendVarint(out, handle.num_bytes);
  AppendLittleEndian(out, handle.checksum);
}

BlockHandle ReadHandle(Decoder* decoder) {
  BlockHandle handle;
  handle.offset = decoder->Varint();
  handle.num_bytes = decoder->Varint();
  handle.checksum = decoder->Fixed<uint32_t>();
  return handle;
}

std::string SstIndex::Encode() const {
  std::string out;
  AppendVarint(&out, num_entries);
  AppendBytes(&out, first_key);
  AppendVarint(&out, blocks.size());
  for (const DataBlock& block : blocks) {
    AppendBytes(&out, block.last_key);
    AppendHandle(&out, block.handle);
  }
  AppendLittleEndian(&out, filter_granule_blocks);
  for (const BlockHandle& filter : filters) AppendHandle(&out, filter);
  AppendHandle(&out, skip_index);
  return out;
}

Result<SstIndex> SstIndex::Decode(ByteView bytes) {
  Decoder decoder(bytes);
  SstIndex index;
  index.num_entries = decoder.Varint();
  index.first_key = AsText(decoder.Bytes(decoder.Varint()));
  const uint64_t num_blocks = decoder.Varint();
  for (uint64_t i = 0; i < num_blocks && decoder.ok(); ++i) {
    DataBlock& block = index.blocks.emplace_back();
    block.last_key = AsText(decoder.Bytes(decoder.Varint()));
    block.handle = ReadHandle(&decoder);
  }
  index.filter_granule_blocks = decoder.Fixed<uint32_t>();
  if (index.filter_granule_blocks != 0) {
    for (uint64_t i = 0; i < num_blocks && decoder.ok(); i += index.filter_granule_blocks) {
      index.filters.push_back(ReadHandle(&decoder));
    }
  }
  index.skip_index = ReadHandle(&decoder);
  if (!decoder.ok() || !decoder.rest().empty() || index.blocks.empty()) {
    return Status::Corruption("block index is damaged");
  }
  return index;
}

Result<std::shared_ptr<const Block>> ParseDataBlock(std::string raw) {
  auto block = std::make_shared<Block>(std::move(raw));
  Decoder decoder(AsBytes(block->bytes));
  while (decoder.ok() && !decoder.rest().empty()) {
    const Entry entry = ReadEntry(&decoder);
    if (!block->entries.empty() && block->entries.back().key >= entry.key) {
      return Status::Corruption("data block is out of order");
    }
    block->entries.push_back(entry);
  }
  if (!decoder.ok() || block->entries.empty()) return Status::Corruption("data block is damaged");
  return std::shared_ptr<const Block>(std::move(block));
}

std::shared_ptr<const Block> ParseFilterBlock(std::string raw) {
  auto block = std::make_shared<Block>(std::move(raw));
  block->filter = Filter::Open(AsBytes(block->bytes));
  return block;
}

}  // namespace blocksieve::toylsm
