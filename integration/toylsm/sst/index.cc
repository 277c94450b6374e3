#include "integration/toylsm/sst/index.h"

#include "lib/base/coding.h"

namespace blocksieve::toylsm {
namespace {

void AppendBytes(std::string* out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out->append(bytes);
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

}  // namespace blocksieve::toylsm
