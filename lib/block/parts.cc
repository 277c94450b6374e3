#include "lib/block/parts.h"

#include <cassert>
#include <cstring>

#include "lib/base/errors.h"
#include "lib/block/seal.h"
#include "lib/hash/checksum.h"

namespace blocksieve::internal {

Result<BlockParts> SplitBlock(ByteView block) {
  if (!LooksLikeVersion(block, kRangeFormatVersion)) return BlockParts{block, {}, 0};
  const Result<BlockTail> tail = ReadTail(block);
  if (!tail.ok()) return tail.status();
  Decoder fields(tail->fields);
  const uint64_t filter_bytes = fields.Varint();
  const uint64_t range_bytes = fields.Varint();
  const auto checksum = fields.Fixed<uint32_t>();
  if (!fields.ok() || !fields.rest().empty() || filter_bytes > tail->before.size() ||
      range_bytes != tail->before.size() - filter_bytes) {
    return DamagedBlock("footer of the ranges contradicts their sizes");
  }
  const auto bytes = static_cast<size_t>(filter_bytes);
  return BlockParts{tail->before.first(bytes), tail->before.subspan(bytes), checksum};
}

BlockParts SplitBlockIfReadable(ByteView block) noexcept try {
  const BlockParts whole{block, {}, 0};
  if (!LooksLikeVersion(block, kRangeFormatVersion)) return whole;
  const Result<BlockParts> parts = SplitBlock(block);
  return parts.ok() ? *parts : whole;
} catch (const std::bad_alloc&) {
  return {block, {}, 0};
}

Status CheckRanges(const BlockParts& parts) {
  if (!parts.ranges.empty() && Checksum(parts.ranges) != parts.ranges_checksum) {
    return DamagedBlock("range checksum mismatch");
  }
  return Status::Ok();
}

void SealParts(uint64_t filter_bytes, uint64_t range_bytes, OwnedBytes* block) noexcept {
  const auto before = static_cast<size_t>(filter_bytes + range_bytes);
  FooterBytes footer;
  AppendVarint(&footer, filter_bytes);
  AppendVarint(&footer, range_bytes);
  AppendLittleEndian(&footer, Checksum(block->view().subspan(static_cast<size_t>(filter_bytes),
                                                             static_cast<size_t>(range_bytes))));
  AppendTail(kRangeFormatVersion, &footer);
  assert(footer.size() <= kMaxPartsFooterBytes && before + footer.size() <= block->size);
  std::memcpy(block->data() + before, footer.view().data(), footer.size());
  block->size = before + footer.size();
}

}  // namespace blocksieve::internal
