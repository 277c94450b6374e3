#include "lib/block/parts.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/block/filter_info.h"
#include "lib/block/seal.h"
#include "lib/hash/checksum.h"

namespace blocksieve::internal {

namespace {

// What follows the parts in a block.
constexpr size_t kMaxFooterBytes = 48;

bool HasParts(ByteView block) noexcept {
  return LooksLikeVersion(block, kRangeFormatVersion) ||
         LooksLikeVersion(block, kPrefixFormatVersion);
}

}  // namespace

Result<BlockParts> SplitBlock(ByteView block) {
  if (!HasParts(block)) return BlockParts{block, {}, {}, 0};
  const Result<BlockTail> tail = ReadTail(block);
  if (!tail.ok()) return tail.status();
  Decoder fields(tail->fields);
  const uint64_t filter_bytes = fields.Varint();
  const uint64_t prefix_bytes = tail->version == kPrefixFormatVersion ? fields.Varint() : 0;
  const uint64_t range_bytes = fields.Varint();
  const auto checksum = fields.Fixed<uint32_t>();
  Decoder parts(tail->before);
  const ByteView filter = parts.Bytes(filter_bytes);
  const ByteView prefixes = parts.Bytes(prefix_bytes);
  const ByteView ranges = parts.Bytes(range_bytes);
  if (!fields.ok() || !fields.rest().empty() || !parts.ok() || !parts.rest().empty()) {
    return DamagedBlock("sizes in the footer of the parts do not match the block");
  }
  return BlockParts{filter, prefixes, ranges, checksum};
}

BlockParts SplitBlockIfReadable(ByteView block) noexcept try {
  const BlockParts whole{block, {}, {}, 0};
  if (!HasParts(block)) return whole;
  const Result<BlockParts> parts = SplitBlock(block);
  return parts.ok() ? *parts : whole;
} catch (const std::bad_alloc&) {
  return {block, {}, {}, 0};
}

Status CheckParts(const BlockParts& parts) {
  const ByteView bytes(parts.prefixes.data(), parts.prefixes.size() + parts.ranges.size());
  if (!bytes.empty() && Checksum(bytes) != parts.checksum) {
    return DamagedBlock("range checksum mismatch");
  }
  return Status::Ok();
}

Status AppendParts(std::string_view prefixes, std::string_view ranges, OwnedBytes* block) {
  const size_t part_bytes = prefixes.size() + ranges.size();
  if (part_bytes == 0) return Status::Ok();
  const uint64_t size = uint64_t{block->size} + part_bytes + kMaxFooterBytes;
  if (size >= kMaxFilterBlockBytes) {
    return Status::ResourceExhausted("filter block with its parts would be " +
                                     std::to_string(size) + " bytes; allowed: less than " +
                                     std::to_string(kMaxFilterBlockBytes));
  }
  OwnedBytes joined = AllocateBlock(size, 0);
  if (joined.memory == nullptr) return OutOfMemory();
  uint8_t* const parts = joined.data() + block->size;
  std::memcpy(joined.data(), block->data(), block->size);
  // Not memcpy, which must not be given the null pointers of empty parts.
  std::copy(ranges.begin(), ranges.end(), std::copy(prefixes.begin(), prefixes.end(), parts));
  FooterBytes footer;
  AppendVarint(&footer, block->size);
  if (!prefixes.empty()) AppendVarint(&footer, prefixes.size());
  AppendVarint(&footer, ranges.size());
  AppendLittleEndian(&footer, Checksum({parts, part_bytes}));
  AppendTail(prefixes.empty() ? kRangeFormatVersion : kPrefixFormatVersion, &footer);
  assert(footer.size() <= kMaxFooterBytes);
  std::memcpy(parts + part_bytes, footer.view().data(), footer.size());
  joined.size = block->size + part_bytes + footer.size();
  *block = std::move(joined);
  return Status::Ok();
}

}  // namespace blocksieve::internal
