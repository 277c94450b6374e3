#include "blocksieve/filter_block.h"

#include <string>

#include "blocksieve/sizing.h"
#include "lib/base/coding.h"
#include "lib/base/out_of_memory.h"
#include "lib/block/filter_footer.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/classic_footer.h"
#include "lib/hash/checksum.h"
#include "lib/ribbon/footer.h"
#include "lib/ribbon/sizing.h"

// Layout of a block (lib/FORMAT.md is normative):
//
//   payload | fields | field bytes (1) | version (1) | magic (1) | checksum (4) | 00 00 00 00 00
//           |<---------------- the checksum covers these ------>|
//
//   fields: kind and flags (1), keys (varint), payload bytes (varint), payload checksum (4),
//           hash seed (8, if flagged), layout parameters of the kind

namespace blocksieve {
namespace {

constexpr uint8_t kMagic = 0xB5;
constexpr size_t kTailBytes = 3 + sizeof(uint32_t) + kZeroTailBytes;

// The byte of kind and flags.
constexpr uint8_t kKindMask = 0x0f;
constexpr uint8_t kHasSeed = 0x10;
constexpr uint8_t kIsEmpty = 0x20;
constexpr uint8_t kKnownFlags = kHasSeed | kIsEmpty;

Status Damaged(const std::string& what) { return Status::Corruption("filter block: " + what); }

bool IsKnownKind(FilterKind kind) noexcept {
  return kind >= FilterKind::kClassicBloom && kind <= FilterKind::kCountingBloom;
}

// Reads and checks the layout parameters of a blocked Bloom filter.
Status ReadBlockedBloom(Decoder* fields, FilterInfo* info) {
  info->num_probes = fields->Fixed<uint8_t>();
  info->lead_bytes = fields->Fixed<uint8_t>();
  if (!fields->ok()) return Damaged("footer ends early");
  if (info->num_probes < 1 || info->num_probes > internal::kMaxBloomProbes) {
    return Damaged("probes per key are " + std::to_string(info->num_probes) + "; allowed is 1 to " +
                   std::to_string(internal::kMaxBloomProbes));
  }
  if (info->lead_bytes >= internal::kLineBytes ||
      info->payload_bytes < info->lead_bytes + internal::kLineBytes ||
      (info->payload_bytes - info->lead_bytes) % internal::kLineBytes != 0) {
    return Damaged("payload of " + std::to_string(info->payload_bytes) + " bytes after " +
                   std::to_string(info->lead_bytes) + " unused ones is not whole lines");
  }
  return Status::Ok();
}

}  // namespace

namespace internal {

std::string EncodeFooter(const FilterInfo& info) {
  uint8_t kind_and_flags = static_cast<uint8_t>(info.kind);
  if (info.hash_seed != 0) kind_and_flags |= kHasSeed;
  if (info.num_keys == 0) kind_and_flags |= kIsEmpty;

  std::string footer;
  footer.push_back(static_cast<char>(kind_and_flags));
  AppendVarint(&footer, info.num_keys);
  AppendVarint(&footer, info.payload_bytes);
  AppendLittleEndian(&footer, info.payload_checksum);
  if (info.hash_seed != 0) AppendLittleEndian(&footer, info.hash_seed);
  if (HasClassicFields(info.kind)) {
    AppendClassicFields(info, &footer);
  } else if (info.num_keys != 0) {
    if (info.kind == FilterKind::kRibbon) {
      AppendRibbonFields(info, &footer);
    } else {
      footer.push_back(static_cast<char>(info.num_probes));
      footer.push_back(static_cast<char>(info.lead_bytes));
    }
  }
  footer.push_back(static_cast<char>(footer.size()));
  footer.push_back(static_cast<char>(kFilterFormatVersion));
  footer.push_back(static_cast<char>(kMagic));
  AppendLittleEndian(&footer, Checksum(AsBytes(footer)));
  footer.append(kZeroTailBytes, '\0');
  return footer;
}

uint64_t FooterBytes(const FilterInfo& info) noexcept {
  uint64_t layout_bytes = 0;
  if (HasClassicFields(info.kind)) {
    layout_bytes = ClassicFieldBytes(info);
  } else if (info.num_keys != 0) {
    layout_bytes = info.kind == FilterKind::kRibbon ? RibbonFieldBytes(info) : 2;
  }
  return 1 + VarintBytes(info.num_keys) + VarintBytes(info.payload_bytes) + sizeof(uint32_t) +
         (info.hash_seed != 0 ? sizeof(uint64_t) : 0) + layout_bytes + kTailBytes;
}

}  // namespace internal

bool HasFilterBlockTail(ByteView block) noexcept {
  if (block.size() < kZeroTailBytes) return false;
  for (const uint8_t byte : block.last(kZeroTailBytes)) {
    if (byte != 0) return false;
  }
  return true;
}

Result<FilterInfo> DescribeFilterBlock(ByteView block) try {
  if (block.size() < kTailBytes) {
    return Damaged(std::to_string(block.size()) + " bytes are too short");
  }
  const ByteView tail = block.last(kTailBytes);
  if (!HasFilterBlockTail(block) || tail[2] != kMagic) {
    return Damaged("does not end as a blocksieve filter does");
  }
  const size_t field_bytes = tail[0];
  if (block.size() - kTailBytes < field_bytes) return Damaged("shorter than its footer");
  const ByteView covered = block.last(kTailBytes + field_bytes).first(field_bytes + 3);
  if (LoadLittleEndian<uint32_t>(tail.data() + 3) != Checksum(covered)) {
    return Damaged("checksum of the footer does not fit");
  }
  const uint8_t version = tail[1];
  if (version != kFilterFormatVersion) {
    return Status::NotSupported("filter block: format version is " + std::to_string(version) +
                                "; this library reads 1 to " +
                                std::to_string(kFilterFormatVersion));
  }

  Decoder fields(covered.first(field_bytes));
  FilterInfo info;
  const uint8_t kind_and_flags = fields.Fixed<uint8_t>();
  info.kind = static_cast<FilterKind>(kind_and_flags & kKindMask);
  info.num_keys = fields.Varint();
  info.payload_bytes = fields.Varint();
  info.payload_checksum = fields.Fixed<uint32_t>();
  if ((kind_and_flags & kHasSeed) != 0) info.hash_seed = fields.Fixed<uint64_t>();
  info.block_bytes = block.size();
  if (!fields.ok()) return Damaged("footer ends early");
  if ((kind_and_flags & ~(kKindMask | kKnownFlags)) != 0) {
    return Status::NotSupported("filter block: flags are " +
                                std::to_string(kind_and_flags & ~kKindMask) +
                                ", of which some are unknown");
  }
  if (!IsKnownKind(info.kind)) {
    return Status::NotSupported("filter block: kind is " +
                                std::to_string(static_cast<int>(info.kind)) +
                                "; this library reads 1 to 4");
  }
  if (info.payload_bytes != block.size() - kTailBytes - field_bytes) {
    return Damaged("payload has " + std::to_string(block.size() - kTailBytes - field_bytes) +
                   " bytes; its footer says " + std::to_string(info.payload_bytes));
  }
  const bool is_empty = (kind_and_flags & kIsEmpty) != 0;
  if (is_empty != (info.num_keys == 0)) return Damaged("number of keys contradicts the empty flag");

  if (is_empty && info.payload_bytes != 0)
    return Damaged("the filter is empty, its payload is not");

  Status status = Status::Ok();
  if (internal::HasClassicFields(info.kind)) {
    // An empty one of these has a layout, too, so that it can go on being filled.
    status = internal::ReadClassicFields(&fields, &info);
  } else if (!is_empty) {
    status = info.kind == FilterKind::kRibbon ? internal::ReadRibbonFields(&fields, &info)
                                              : ReadBlockedBloom(&fields, &info);
  }
  if (!status.ok()) return status;
  if (!fields.rest().empty()) return Damaged("footer has bytes too many");
  return info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status VerifyFilterBlock(ByteView block) try {
  const Result<FilterInfo> info = DescribeFilterBlock(block);
  if (!info.ok()) return info.status();
  if (Checksum(block.first(static_cast<size_t>(info->payload_bytes))) != info->payload_checksum) {
    return Damaged("checksum of the payload does not fit");
  }
  return Status::Ok();
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

double PredictedFpr(const FilterInfo& info) noexcept {
  if (info.num_keys == 0) return 0;
  if (info.kind == FilterKind::kRibbon) {
    const internal::RibbonShape shape = internal::ShapeOf(info);
    return internal::RibbonFpr(shape.columns, internal::RibbonWideShare(shape));
  }
  if (internal::HasClassicFields(info.kind)) {
    const double bits_per_key =
        static_cast<double>(info.num_cells) / static_cast<double>(info.num_keys);
    return ClassicBloomFpr(bits_per_key, info.num_probes);
  }
  const double payload_bits = 8.0 * static_cast<double>(info.payload_bytes - info.lead_bytes);
  return BlockedBloomFpr(payload_bits / static_cast<double>(info.num_keys), info.num_probes);
}

}  // namespace blocksieve
