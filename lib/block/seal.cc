#include "lib/block/seal.h"

#include <string>

#include "lib/base/block_memory.h"
#include "lib/block/kind.h"
#include "lib/block/short_block.h"
#include "lib/hash/checksum.h"

namespace blocksieve {
namespace internal {
namespace {

constexpr size_t kTailBytes = 3 + sizeof(uint32_t) + kZeroTailBytes;

// Masks of the byte of kind and flags.
constexpr uint8_t kKindMask = 0x0f;
constexpr uint8_t kHasSeed = 0x10;
constexpr uint8_t kIsEmpty = 0x20;
constexpr uint8_t kKnownFlags = kHasSeed | kIsEmpty;

}  // namespace

FooterBytes EncodeFooter(const FilterInfo& info, const FilterFormat& format) noexcept {
  uint8_t kind_and_flags = static_cast<uint8_t>(info.kind);
  if (info.hash_seed != 0) kind_and_flags |= kHasSeed;
  if (info.num_keys == 0) kind_and_flags |= kIsEmpty;

  FooterBytes footer;
  footer.push_back(static_cast<char>(kind_and_flags));
  AppendVarint(&footer, info.num_keys);
  AppendVarint(&footer, info.payload_bytes);
  AppendLittleEndian(&footer, info.payload_checksum);
  if (info.hash_seed != 0) AppendLittleEndian(&footer, info.hash_seed);
  if (info.num_keys != 0) format.append_fields(info, &footer);
  AppendTail(kFilterFormatVersion, &footer);
  return footer;
}

void AppendTail(uint8_t version, FooterBytes* footer) noexcept {
  footer->push_back(static_cast<char>(footer->size()));
  footer->push_back(static_cast<char>(version));
  footer->push_back(static_cast<char>(kMagicByte));
  AppendLittleEndian(footer, Checksum(footer->view()));
  for (size_t i = 0; i < kZeroTailBytes; ++i) footer->push_back('\0');
}

Result<OwnedBytes> AllocateFilterBlock(const FilterInfo& plan, uint64_t block_bytes,
                                       uint64_t build_bytes, uint64_t max_build_bytes) {
  if (block_bytes >= kMaxFilterBlockBytes) {
    return Status::ResourceExhausted("filter of " + std::to_string(plan.num_keys) + " keys takes " +
                                     std::to_string(block_bytes) + " bytes; allowed: less than " +
                                     std::to_string(kMaxFilterBlockBytes));
  }
  if (build_bytes == kExhausted || (max_build_bytes != 0 && build_bytes > max_build_bytes)) {
    return Status::ResourceExhausted(
        "building a filter of " + std::to_string(plan.num_keys) + " keys takes more memory than " +
        (max_build_bytes == 0 ? "available"
                              : "max_build_bytes = " + std::to_string(max_build_bytes)));
  }
  OwnedBytes block = AllocateBlock(block_bytes, plan.padding_bytes);
  if (block.memory == nullptr) {
    return Status::ResourceExhausted("out of memory for a filter block of " +
                                     std::to_string(block_bytes) + " bytes");
  }
  return block;
}

uint64_t FooterBytesOf(const FilterInfo& info, const FilterFormat& format) noexcept {
  const uint64_t short_bytes = ShortFooterBytes(info, format);
  return short_bytes != 0 ? short_bytes : EncodeFooter(info, format).size();
}

void Seal(FilterInfo info, const FilterFormat& format, OwnedBytes* block) noexcept {
  if (SealShort(info, format, block)) return;
  const auto payload_bytes = static_cast<size_t>(info.payload_bytes);
  info.payload_checksum = Checksum(block->view().first(payload_bytes));
  const FooterBytes footer = EncodeFooter(info, format);
  assert(footer.size() <= block->size - payload_bytes);
  std::memcpy(block->data() + payload_bytes, footer.view().data(), footer.size());
  block->size = payload_bytes + footer.size();
}

Result<BlockTail> ReadTail(ByteView block) {
  if (block.size() < kTailBytes) {
    return DamagedBlock("size is " + std::to_string(block.size()) + " bytes; allowed: at least " +
                        std::to_string(kTailBytes));
  }
  const ByteView tail = block.last(kTailBytes);
  if (!HasFilterBlockTail(block) || tail[2] != kMagicByte) {
    return DamagedBlock("no magic byte; another program's filter?");
  }
  const size_t field_bytes = tail[0];
  if (block.size() - kTailBytes < field_bytes)
    return DamagedBlock("block is shorter than its footer");
  const ByteView covered = block.last(kTailBytes + field_bytes).first(field_bytes + 3);
  if (LoadLittleEndian<uint32_t>(tail.data() + 3) != Checksum(covered)) {
    return DamagedBlock("footer checksum mismatch");
  }
  return BlockTail{tail[1], covered.first(field_bytes),
                   block.first(block.size() - kTailBytes - field_bytes)};
}

bool LooksLikeVersion(ByteView block, uint8_t version) noexcept {
  if (block.size() < kTailBytes) return false;
  const ByteView tail = block.last(kTailBytes);
  return tail[1] == version && tail[2] == kMagicByte;
}

Status ReadFooter(ByteView block, FilterInfo* info) {
  if (LooksShort(block)) return ReadShortBlock(block, info);
  const Result<BlockTail> tail = ReadTail(block);
  if (!tail.ok()) return tail.status();
  if (tail->version != kFilterFormatVersion) return UnknownVersion(tail->version);

  Decoder fields(tail->fields);
  const uint8_t kind_and_flags = fields.Fixed<uint8_t>();
  info->kind = static_cast<FilterKind>(kind_and_flags & kKindMask);
  info->num_keys = fields.Varint();
  info->payload_bytes = fields.Varint();
  info->payload_checksum = fields.Fixed<uint32_t>();
  if ((kind_and_flags & kHasSeed) != 0) info->hash_seed = fields.Fixed<uint64_t>();
  info->block_bytes = block.size();
  if (!fields.ok()) return DamagedBlock("footer is truncated");
  if ((kind_and_flags & ~(kKindMask | kKnownFlags)) != 0) {
    return Status::NotSupported("filter block: flags are " +
                                std::to_string(kind_and_flags & ~kKindMask) +
                                "; some are unknown to this library");
  }
  const KindEntry* kind = FindKind(info->kind);
  if (kind == nullptr) {
    return Status::NotSupported(
        "filter block: kind is " + std::to_string(static_cast<int>(info->kind)) +
        "; this library reads 2 to " + std::to_string(1 + AllKinds().size()));
  }
  if (kind->building && info->hash_seed != 0) {
    return Status::NotSupported("filter block: hash seed is " + std::to_string(info->hash_seed) +
                                "; allowed: 0");
  }
  if (info->payload_bytes != tail->before.size()) {
    return DamagedBlock("payload is " + std::to_string(tail->before.size()) +
                        " bytes; its footer says " + std::to_string(info->payload_bytes));
  }
  const bool is_empty = (kind_and_flags & kIsEmpty) != 0;
  if (is_empty != (info->num_keys == 0)) {
    return DamagedBlock("number of keys contradicts the empty flag");
  }
  if (is_empty && info->payload_bytes != 0) {
    return DamagedBlock("payload of an empty filter is not empty");
  }
  if (!is_empty) {
    if (Status status = kind->format.read_fields(&fields, info); !status.ok()) return status;
  }
  return fields.rest().empty() ? Status::Ok() : DamagedBlock("footer has trailing bytes");
}

Status CheckPayload(ByteView block, const FilterInfo& info) {
  if (LooksShort(block)) return Status::Ok();  // checked by ReadFooter
  if (Checksum(block.first(static_cast<size_t>(info.payload_bytes))) != info.payload_checksum) {
    return DamagedBlock("payload checksum mismatch");
  }
  return Status::Ok();
}

Status UnknownVersion(uint8_t version) {
  return Status::NotSupported("filter block: format version is " + std::to_string(version) +
                              "; this library reads 1 to " + std::to_string(kNewestBlockVersion));
}

Status DamagedBlock(const std::string& what) { return Status::Corruption("filter block: " + what); }

}  // namespace internal

bool HasFilterBlockTail(ByteView block) noexcept {
  if (block.size() < kZeroTailBytes) return false;
  for (const uint8_t byte : block.last(kZeroTailBytes)) {
    if (byte != 0) return false;
  }
  return true;
}

}  // namespace blocksieve
