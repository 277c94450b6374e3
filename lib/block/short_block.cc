#include "lib/block/short_block.h"

#include <cassert>
#include <cstring>
#include <optional>
#include <string>

#include "lib/block/filter_info.h"
#include "lib/block/kind.h"
#include "lib/hash/checksum.h"

namespace blocksieve::internal {
namespace {

constexpr uint8_t kMagicNibble = 0xB0;
constexpr uint8_t kVersionMask = 0x0f;
constexpr size_t kChecksumBytes = 3;

uint32_t ShortChecksum(ByteView bytes) noexcept { return Checksum(bytes) & 0xffffff; }

uint32_t LoadThreeBytes(const uint8_t* from) noexcept {
  return from[0] | uint32_t{from[1]} << 8 | uint32_t{from[2]} << 16;
}

/// Fields and version; nullopt if the block cannot be short.
std::optional<FooterBytes> EncodeFields(const FilterInfo& info,
                                        const FilterFormat& format) noexcept {
  FooterBytes footer;
  if (format.append_short_fields == nullptr || info.num_keys == 0 || info.hash_seed != 0 ||
      info.padding_bytes != 0 || !format.append_short_fields(info, &footer) ||
      footer.view().back() == kMagicByte ||
      info.payload_bytes + footer.size() + kShortTailBytes > kMaxShortBytes) {
    return std::nullopt;
  }
  footer.push_back(static_cast<char>(kMagicNibble | kShortFormatVersion));
  return footer;
}

}  // namespace

bool LooksShort(ByteView block) noexcept {
  if (block.size() <= kShortTailBytes || !HasFilterBlockTail(block)) return false;
  const ByteView tail = block.last(kShortTailBytes + 1);
  return tail[0] != kMagicByte && (tail[1] & ~kVersionMask) == kMagicNibble;
}

Result<ByteView> ReadShortTail(ByteView block) {
  if (block.size() > kMaxShortBytes) {
    return DamagedBlock("size with a short footer is " + std::to_string(block.size()) +
                        " bytes; allowed: up to " + std::to_string(kMaxShortBytes));
  }
  const ByteView covered = block.first(block.size() - kChecksumBytes - kZeroTailBytes);
  if (LoadThreeBytes(covered.data() + covered.size()) != ShortChecksum(covered)) {
    return DamagedBlock("block checksum mismatch");
  }
  const uint8_t version = covered.back() & kVersionMask;
  if (version != kShortFormatVersion) return UnknownVersion(version);
  return covered.first(covered.size() - 1);
}

Status ReadShortBlock(ByteView block, FilterInfo* info) {
  const Result<ByteView> payload_and_fields = ReadShortTail(block);
  if (!payload_and_fields.ok()) return payload_and_fields.status();
  info->kind = kShortBlockKind;
  info->block_bytes = block.size();
  return FindKind(kShortBlockKind)->format.read_short_fields(*payload_and_fields, info);
}

bool SealShort(const FilterInfo& info, const FilterFormat& format, OwnedBytes* block) noexcept {
  const std::optional<FooterBytes> fields = EncodeFields(info, format);
  if (!fields) return false;
  uint8_t* at = block->data() + info.payload_bytes;
  std::memcpy(at, fields->view().data(), fields->size());
  at += fields->size();
  const auto covered = static_cast<size_t>(at - block->data());
  assert(covered + kChecksumBytes + kZeroTailBytes <= block->size);
  const uint32_t checksum = ShortChecksum(block->view().first(covered));
  for (size_t i = 0; i < kChecksumBytes; ++i) *at++ = static_cast<uint8_t>(checksum >> 8 * i);
  std::memset(at, 0, kZeroTailBytes);
  block->size = covered + kChecksumBytes + kZeroTailBytes;
  return true;
}

uint64_t ShortFooterBytes(const FilterInfo& info, const FilterFormat& format) noexcept {
  const std::optional<FooterBytes> fields = EncodeFields(info, format);
  return fields ? fields->size() + kChecksumBytes + kZeroTailBytes : 0;
}

}  // namespace blocksieve::internal
