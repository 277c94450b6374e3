// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/shape.h"

#include "lib/base/block_memory.h"

namespace blocksieve::internal {
namespace {

// The first field.
constexpr uint8_t kColumnsMask = 0x1f;
constexpr uint8_t kIsMixed = 0x20;
constexpr uint8_t kHasSeveralChunks = 0x40;
constexpr uint8_t kHasPadding = 0x80;

// Fields of a short block's word.
constexpr uint16_t kIsShortMixed = 0x20;
constexpr int kSeedShift = 6;
constexpr int kSpareShift = 10;
constexpr uint64_t kMaxSpareSlots = 63;
constexpr uint64_t kMaxShortNarrowSegments = 0xff;

uint32_t StoredColumns(const RibbonShape& shape) noexcept {
  return shape.is_mixed() ? shape.columns : shape.max_columns();
}

}  // namespace

Problem CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes) noexcept {
  if (shape.columns < 1 || shape.columns > kMaxRibbonColumns) {
    return {"number of columns of the ribbon is out of range; allowed: 1 to 24"};
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
    return {"size does not fit the octets, chunks and segments of the ribbon"};
  }
  return {};
}

void AppendRibbonFields(const RibbonShape& shape, FieldBytes* fields) noexcept {
  const bool has_several = shape.chunks > 1;
  fields->push_back(static_cast<char>(StoredColumns(shape) | (shape.is_mixed() ? kIsMixed : 0) |
                                      (has_several ? kHasSeveralChunks : 0) |
                                      (shape.padding_bytes > 0 ? kHasPadding : 0)));
  if (has_several) {
    AppendVarint(fields, shape.octets * 2 + (shape.has_always_true_chunks ? 1 : 0));
    AppendVarint(fields, shape.chunks);
  } else {
    AppendLittleEndian(fields, static_cast<uint16_t>(RibbonMultiplier(shape.seed, shape.octets)));
  }
  if (shape.is_mixed()) AppendVarint(fields, shape.narrow_segments);
}

Problem ReadRibbonFields(Decoder* fields, RibbonShape* shape) noexcept {
  const auto first = fields->Fixed<uint8_t>();
  const bool has_several = (first & kHasSeveralChunks) != 0;
  shape->columns = first & kColumnsMask;
  if (has_several) {
    const uint64_t octets_and_flag = fields->Varint();
    shape->octets = octets_and_flag / 2;
    shape->has_always_true_chunks = octets_and_flag % 2 != 0;
    shape->chunks = fields->Varint();
  } else {
    const auto entry = fields->Fixed<uint16_t>();
    shape->octets = entry & kRibbonEntryMask;
    shape->seed = entry >> 12;
  }
  // Clamped to prevent overflow; CheckRibbonShape rejects the clamped size.
  shape->octets = std::min(shape->octets, kMaxFilterBlockBytes);
  shape->chunks = std::min(shape->chunks, kMaxFilterBlockBytes);
  shape->narrow_segments = shape->segments();
  if ((first & kIsMixed) != 0) shape->narrow_segments = fields->Varint();
  shape->padding_bytes = (first & kHasPadding) != 0 ? kPaddingBytes : 0;
  if (!fields->ok()) return {"fields of the ribbon are truncated"};
  if (has_several != (shape->chunks > 1) || ((first & kIsMixed) != 0) != shape->is_mixed()) {
    return {"flags contradict the fields of the ribbon"};
  }
  return {};
}

void AppendShortRibbonFields(const RibbonShape& shape, uint64_t num_keys,
                             FieldBytes* fields) noexcept {
  const uint32_t columns = StoredColumns(shape);
  const uint64_t spare_slots = shape.slots() - num_keys;
  if (shape.chunks > 1 || shape.has_always_true_chunks || shape.padding_bytes > 0 ||
      columns > kMaxRibbonColumns || num_keys > shape.slots() || spare_slots > kMaxSpareSlots ||
      (shape.is_mixed() && shape.narrow_segments > kMaxShortNarrowSegments)) {
    return;
  }
  if (shape.is_mixed()) fields->push_back(static_cast<char>(shape.narrow_segments));
  AppendLittleEndian(fields,
                     static_cast<uint16_t>(columns | (shape.is_mixed() ? kIsShortMixed : 0) |
                                           shape.seed << kSeedShift | spare_slots << kSpareShift));
}

Problem ReadShortRibbonFields(ByteView points, RibbonShape* shape, uint64_t* num_keys) noexcept {
  if (points.size() < 3) return {"block is shorter than its footer"};
  const auto word = LoadLittleEndian<uint16_t>(points.data() + points.size() - 2);
  ByteView payload = points.first(points.size() - 2);
  shape->columns = word & kColumnsMask;
  shape->seed = word >> kSeedShift & (kRibbonSeeds - 1);
  uint64_t narrow_octets = 0;
  if ((word & kIsShortMixed) != 0) {
    narrow_octets = payload.back() * uint64_t{8};
    payload = payload.first(payload.size() - 1);
  }
  const uint64_t narrow_bytes = narrow_octets * shape->columns;
  const uint64_t bytes_per_octet = shape->columns + (narrow_octets > 0 ? 1 : 0);
  if (narrow_bytes > payload.size() || bytes_per_octet == 0) {
    return {"size does not fit the columns of the ribbon"};
  }
  shape->octets = narrow_octets + (payload.size() - narrow_bytes) / bytes_per_octet;
  shape->narrow_segments = narrow_octets > 0 ? narrow_octets / 8 : shape->segments();
  const uint64_t spare_slots = word >> kSpareShift;
  if (((word & kIsShortMixed) != 0) != shape->is_mixed() || spare_slots >= shape->slots()) {
    return {"fields of the ribbon contradict each other"};
  }
  *num_keys = shape->slots() - spare_slots;
  return CheckRibbonShape(*shape, payload.size());
}

}  // namespace blocksieve::internal
