#include "lib/ribbon/shape.h"

#include <algorithm>
#include <string>

namespace blocksieve::internal {
namespace {

constexpr uint32_t kPaddingBytes = 48;

constexpr uint8_t kColumnsMask = 0x1f;
constexpr uint8_t kHasWideSegments = 0x20;
constexpr uint8_t kHasSeveralChunks = 0x40;
constexpr uint8_t kHasPadding = 0x80;

// Fields of a short block's word.
constexpr uint16_t kIsMixed = 0x20;
constexpr int kSeedShift = 6;
constexpr int kSpareShift = 10;
constexpr uint64_t kMaxSpareSlots = 63;
constexpr uint64_t kMaxShortNarrowSegments = 0xff;

bool IsMixed(const RibbonShape& shape) noexcept {
  return shape.narrow_segments > 0 && shape.has_wide_segments();
}

}  // namespace

Status CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes) {
  if (shape.columns < 1 || shape.columns > kMaxRibbonColumns) {
    return DamagedBlock("number of columns is " + std::to_string(shape.columns) +
                        "; allowed: 1 to " + std::to_string(kMaxRibbonColumns));
  }
  // Bounds first, so that no product overflows.
  const bool plausible =
      shape.octets >= kMinRibbonOctets && shape.octets <= payload_bytes && shape.chunks >= 1 &&
      shape.chunks <= payload_bytes && shape.narrow_segments <= shape.segments() &&
      (shape.chunks > 1 ? shape.seed == 0
                        : shape.seed < kRibbonSeeds && shape.octets <= kRibbonEntryMask &&
                              !shape.has_always_true_chunks) &&
      payload_bytes < uint64_t{1} << 32;  // numbers of chunks and segments fit 32 bits
  if (!plausible || shape.PayloadBytes() != payload_bytes) {
    return DamagedBlock("payload is " + std::to_string(payload_bytes) +
                        " bytes, which does not fit a ribbon of " + std::to_string(shape.octets) +
                        " octets in " + std::to_string(shape.chunks) + " chunks with " +
                        std::to_string(shape.narrow_segments) + " narrow segments");
  }
  return Status::Ok();
}

void AppendRibbonFields(const FilterInfo& info, FooterBytes* footer) noexcept {
  const RibbonShape& shape = info.ribbon;
  footer->push_back(static_cast<char>(
      shape.columns | (shape.has_wide_segments() ? kHasWideSegments : 0) |
      (shape.chunks > 1 ? kHasSeveralChunks : 0) | (info.padding_bytes > 0 ? kHasPadding : 0)));
  AppendVarint(footer, shape.octets * 2 + (shape.has_always_true_chunks ? 1 : 0));
  AppendVarint(footer, shape.chunks > 1 ? shape.chunks : shape.seed);
  if (shape.has_wide_segments()) AppendVarint(footer, shape.narrow_segments);
}

Status ReadRibbonFields(Decoder* fields, FilterInfo* info) {
  const uint8_t first = fields->Fixed<uint8_t>();
  RibbonShape& shape = info->ribbon;
  shape.columns = first & kColumnsMask;
  const uint64_t octets_and_flag = fields->Varint();
  shape.octets = octets_and_flag / 2;
  shape.has_always_true_chunks = octets_and_flag % 2 != 0;
  if ((first & kHasSeveralChunks) != 0) {
    shape.chunks = fields->Varint();
  } else {
    shape.seed = fields->Fixed<uint8_t>();
  }
  // Clamped to prevent overflow; CheckRibbonShape rejects the clamped size.
  shape.octets = std::min(shape.octets, kMaxFilterBlockBytes);
  shape.narrow_segments = shape.segments();
  if ((first & kHasWideSegments) != 0) shape.narrow_segments = fields->Varint();
  if (!fields->ok()) return DamagedBlock("footer is truncated");
  if (((first & kHasSeveralChunks) != 0) != (shape.chunks > 1) ||
      ((first & kHasWideSegments) != 0) != shape.has_wide_segments()) {
    return DamagedBlock("flags contradict the fields of the ribbon");
  }
  info->padding_bytes = (first & kHasPadding) != 0 ? kPaddingBytes : 0;
  if (info->payload_bytes < info->padding_bytes) {
    return DamagedBlock("payload is " + std::to_string(info->payload_bytes) +
                        " bytes, less than its padding of " + std::to_string(kPaddingBytes));
  }
  return CheckRibbonShape(shape, info->payload_bytes - info->padding_bytes);
}

bool AppendShortRibbonFields(const FilterInfo& info, FooterBytes* footer) noexcept {
  const RibbonShape& shape = info.ribbon;
  const bool is_mixed = IsMixed(shape);
  const uint32_t columns = is_mixed ? shape.columns : shape.max_columns();
  if (shape.chunks > 1 || shape.has_always_true_chunks || columns > kMaxRibbonColumns ||
      info.num_keys > shape.slots() || shape.slots() - info.num_keys > kMaxSpareSlots ||
      (is_mixed && shape.narrow_segments > kMaxShortNarrowSegments)) {
    return false;
  }
  if (is_mixed) footer->push_back(static_cast<char>(shape.narrow_segments));
  AppendLittleEndian(
      footer, static_cast<uint16_t>(columns | (is_mixed ? kIsMixed : 0) | shape.seed << kSeedShift |
                                    (shape.slots() - info.num_keys) << kSpareShift));
  return true;
}

Status ReadShortRibbonFields(ByteView payload_and_fields, FilterInfo* info) {
  ByteView payload = payload_and_fields;
  const auto take = [&](size_t bytes) {
    const ByteView taken = payload.last(bytes);
    payload = payload.first(payload.size() - bytes);
    return taken.data();
  };
  if (payload.size() < 3) return DamagedBlock("block is shorter than its footer");
  const auto word = LoadLittleEndian<uint16_t>(take(2));
  RibbonShape& shape = info->ribbon;
  shape.columns = word & kColumnsMask;
  shape.seed = word >> kSeedShift & (kRibbonSeeds - 1);
  uint64_t narrow_octets = 0;
  if ((word & kIsMixed) != 0) narrow_octets = *take(1) * uint64_t{8};
  const uint64_t narrow_bytes = narrow_octets * shape.columns;
  if (narrow_bytes > payload.size())
    return DamagedBlock("payload is shorter than its narrow segments");
  const uint64_t bytes_per_octet = shape.columns + (narrow_octets > 0 ? 1 : 0);
  if (bytes_per_octet == 0) return DamagedBlock("number of columns is 0; allowed: 1 to 24");
  shape.octets = narrow_octets + (payload.size() - narrow_bytes) / bytes_per_octet;
  shape.narrow_segments = narrow_octets > 0 ? narrow_octets / 8 : shape.segments();
  if (((word & kIsMixed) != 0) != IsMixed(shape)) {
    return DamagedBlock("flags contradict the fields of the ribbon");
  }
  const uint64_t spare_slots = word >> kSpareShift;
  if (spare_slots >= shape.slots()) {
    return DamagedBlock("spare slots are " + std::to_string(spare_slots) +
                        "; allowed: less than the " + std::to_string(shape.slots()) + " slots");
  }
  info->num_keys = shape.slots() - spare_slots;
  info->payload_bytes = payload.size();
  return CheckRibbonShape(shape, payload.size());
}

}  // namespace blocksieve::internal
