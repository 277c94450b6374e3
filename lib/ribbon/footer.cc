#include "lib/ribbon/footer.h"

#include <algorithm>
#include <string>

#include "lib/ribbon/view.h"

namespace blocksieve::internal {
namespace {

constexpr uint8_t kColumnsMask = 0x1f;
constexpr uint8_t kHasWideSegments = 0x20;
constexpr uint8_t kHasSeveralChunks = 0x40;
constexpr uint8_t kHasLead = 0x80;

bool HasWideSegments(const RibbonShape& shape) noexcept {
  return shape.narrow_segments < shape.segments();
}

}  // namespace

RibbonShape ShapeOf(const FilterInfo& info) noexcept {
  RibbonShape shape;
  shape.columns = info.num_columns;
  shape.seed = info.chunk_seed;
  shape.octets = info.num_slots / kRibbonOctet;
  shape.chunks = info.num_chunks;
  shape.narrow_segments = info.num_narrow_segments;
  shape.has_open_chunks = info.has_open_chunks;
  return shape;
}

void SetShape(const RibbonShape& shape, FilterInfo* info) noexcept {
  info->num_columns = shape.columns;
  info->chunk_seed = shape.seed;
  info->num_slots = shape.slots();
  info->num_chunks = shape.chunks;
  info->num_narrow_segments = shape.narrow_segments;
  info->has_open_chunks = shape.has_open_chunks;
}

void AppendRibbonFields(const FilterInfo& info, std::string* footer) {
  const RibbonShape shape = ShapeOf(info);
  footer->push_back(static_cast<char>(
      shape.columns | (HasWideSegments(shape) ? kHasWideSegments : 0) |
      (shape.chunks > 1 ? kHasSeveralChunks : 0) | (info.lead_bytes > 0 ? kHasLead : 0)));
  AppendVarint(footer, shape.octets * 2 + (shape.has_open_chunks ? 1 : 0));
  AppendVarint(footer, shape.chunks > 1 ? shape.chunks : shape.seed);
  if (HasWideSegments(shape)) AppendVarint(footer, shape.narrow_segments);
}

uint64_t RibbonFieldBytes(const FilterInfo& info) noexcept {
  const RibbonShape shape = ShapeOf(info);
  return 1 + VarintBytes(shape.octets * 2) + (shape.chunks > 1 ? VarintBytes(shape.chunks) : 1) +
         (HasWideSegments(shape) ? VarintBytes(shape.narrow_segments) : 0);
}

Status ReadRibbonFields(Decoder* fields, FilterInfo* info) {
  const uint8_t first = fields->Fixed<uint8_t>();
  RibbonShape shape;
  shape.columns = first & kColumnsMask;
  const uint64_t octets_and_open = fields->Varint();
  shape.octets = octets_and_open / 2;
  shape.has_open_chunks = octets_and_open % 2 != 0;
  if ((first & kHasSeveralChunks) != 0) {
    shape.chunks = fields->Varint();
  } else {
    shape.seed = fields->Fixed<uint8_t>();
  }
  // Sizes beyond any payload would overflow; CheckRibbonShape rejects what they are cut to.
  shape.octets = std::min(shape.octets, kMaxFilterBlockBytes);
  shape.narrow_segments = shape.segments();
  if ((first & kHasWideSegments) != 0) shape.narrow_segments = fields->Varint();
  if (!fields->ok()) return Status::Corruption("filter block: footer ends early");
  if (((first & kHasSeveralChunks) != 0) != (shape.chunks > 1) ||
      ((first & kHasWideSegments) != 0) != HasWideSegments(shape)) {
    return Status::Corruption("filter block: flags of the ribbon contradict its fields");
  }
  info->lead_bytes = (first & kHasLead) != 0 ? kRibbonLeadBytes : 0;
  if (info->payload_bytes < info->lead_bytes) {
    return Status::Corruption("filter block: a payload of " + std::to_string(info->payload_bytes) +
                              " bytes is shorter than what is unused of it");
  }
  SetShape(shape, info);
  return CheckRibbonShape(shape, info->payload_bytes - info->lead_bytes);
}

}  // namespace blocksieve::internal
