#include "integration/toylsm/sst/format.h"

#include <limits>

#include "lib/base/coding.h"
#include "lib/hash/checksum.h"

namespace blocksieve::toylsm {
namespace {

constexpr uint32_t kMagic = 0x747373b5;  // B5 "sst"
constexpr uint32_t kVersion = 1;

void AppendBytes(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

void AppendHandle(std::string* out, const BlockHandle& handle) {
  AppendVarint(out, handle.offset);
  AppendVarint(out, handle.stored_bytes);
  AppendVarint(out, handle.raw_bytes);
  AppendLittleEndian(out, handle.checksum);
}

BlockHandle ReadHandle(Decoder* decoder) {
  BlockHandle handle;
  handle.offset = decoder->Varint();
  handle.stored_bytes = decoder->Varint();
  handle.raw_bytes = decoder->Varint();
  handle.checksum = decoder->Fixed<uint32_t>();
  return handle;
}

uint32_t ReadGranuleBlocks(Decoder* decoder) {
  const uint64_t blocks = decoder->Varint();
  return blocks > std::numeric_limits<uint32_t>::max() ? 0 : static_cast<uint32_t>(blocks);
}

}  // namespace

std::string SstIndex::Encode() const {
  std::string out;
  AppendVarint(&out, num_entries);
  AppendBytes(&out, first_key);
  AppendVarint(&out, blocks.size());
  for (const DataBlock& block : blocks) {
    AppendBytes(&out, block.last_key);
    AppendHandle(&out, block.handle);
  }
  AppendVarint(&out, filter_granule_blocks);
  for (const BlockHandle& filter : filters) AppendHandle(&out, filter);
  AppendVarint(&out, value_granule_blocks);
  if (value_granule_blocks != 0) AppendHandle(&out, skip_index);
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
    if (i > 0 && index.blocks[static_cast<size_t>(i) - 1].last_key >= block.last_key) {
      return Status::Corruption("a block index out of order");
    }
  }
  index.filter_granule_blocks = ReadGranuleBlocks(&decoder);
  if (index.filter_granule_blocks != 0) {
    for (uint64_t i = 0; i < num_blocks && decoder.ok(); i += index.filter_granule_blocks) {
      index.filters.push_back(ReadHandle(&decoder));
    }
  }
  index.value_granule_blocks = ReadGranuleBlocks(&decoder);
  if (index.value_granule_blocks != 0) index.skip_index = ReadHandle(&decoder);
  if (!decoder.ok() || !decoder.rest().empty() || index.blocks.empty() ||
      index.blocks.front().last_key < index.first_key) {
    return Status::Corruption("a block index");
  }
  return index;
}

std::string SstFooter::Encode() const {
  std::string out;
  AppendLittleEndian(&out, index.offset);
  AppendLittleEndian(&out, index.stored_bytes);
  AppendLittleEndian(&out, index.raw_bytes);
  AppendLittleEndian(&out, index.checksum);
  AppendLittleEndian(&out, file_number);
  AppendLittleEndian(&out, kVersion);
  AppendLittleEndian(&out, Checksum(AsBytes(out)));
  AppendLittleEndian(&out, kMagic);
  return out;
}

Result<SstFooter> SstFooter::Decode(ByteView bytes) {
  Decoder decoder(bytes);
  SstFooter footer;
  footer.index.offset = decoder.Fixed<uint64_t>();
  footer.index.stored_bytes = decoder.Fixed<uint64_t>();
  footer.index.raw_bytes = decoder.Fixed<uint64_t>();
  footer.index.checksum = decoder.Fixed<uint32_t>();
  footer.file_number = decoder.Fixed<uint64_t>();
  const auto version = decoder.Fixed<uint32_t>();
  const auto checksum = decoder.Fixed<uint32_t>();
  const auto magic = decoder.Fixed<uint32_t>();
  if (!decoder.ok() || !decoder.rest().empty() || magic != kMagic ||
      checksum != Checksum(bytes.first(bytes.size() - 8))) {
    return Status::Corruption("footer of a file");
  }
  if (version != kVersion) {
    return Status::NotSupported("file of version " + std::to_string(version));
  }
  return footer;
}

}  // namespace blocksieve::toylsm
