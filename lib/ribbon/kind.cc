// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/kind.h"

#include <cassert>
#include <cmath>

#include "lib/base/block_memory.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"

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

constexpr uint32_t kRowsPerColumn = 16;
// Sizes of more keys would come near 2^64.
constexpr uint64_t kMaxSizedKeys = uint64_t{1} << 60;

constexpr uint32_t kFirstRow = kRowsPerColumn;
constexpr uint32_t kLastRow = kMaxRibbonColumns * kRowsPerColumn;

Layout LayoutOfRow(uint32_t row) noexcept {
  Layout layout{FilterKind::kRibbon, static_cast<double>(row) / kRowsPerColumn,
                row / kRowsPerColumn, 1};
  layout.predicted_fpr = RibbonFpr(layout.num_probes, RibbonWideShare(layout));
  return layout;
}

/// The row that the builder uses for a layout with arbitrary numbers: the next larger, or the last.
Layout NearestRibbonLayout(const Layout& layout) noexcept {
  const double row = std::ceil(layout.bits_per_key * kRowsPerColumn);
  if (!(row >= kFirstRow)) return LayoutOfRow(kFirstRow);
  return LayoutOfRow(static_cast<uint32_t>(std::min<double>(row, kLastRow)));
}

/// The expected shape of a filter. REQUIRES: `layout` is a row.
RibbonShape ExpectedRibbonShape(const Layout& layout, uint64_t num_keys) noexcept {
  RibbonShape shape;
  shape.columns = layout.num_probes;
  shape.chunks = ChooseRibbonChunks(num_keys).total();
  // Two spare slots, and the measured number of empty columns: see RIBBON.md.
  shape.octets = std::max(kMinRibbonOctets, (num_keys + 2 + num_keys / 2500 + 7) / 8);
  shape.narrow_segments = RibbonNarrowSegments(shape.octets, RibbonWideShare(layout));
  return shape;
}

/// Reads the fields at the end of a short block's points, and checks them.
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

Problem ReadFields(const Footer& footer, RibbonShape* shape, uint64_t* num_keys) noexcept {
  if (footer.is_short) return ReadShortRibbonFields(footer.points, shape, num_keys);
  *num_keys = footer.num_keys;
  Decoder fields(footer.fields);
  const Problem problem = ReadRibbonFields(&fields, shape);
  if (problem) return problem;
  if (!fields.rest().empty()) return {"footer has trailing bytes"};
  if (footer.points.size() < shape->padding_bytes) return {"filter is smaller than its padding"};
  return CheckRibbonShape(*shape, footer.points.size() - shape->padding_bytes);
}

void SetFields(RibbonShape shape, BlockPlan* plan) noexcept {
  shape.padding_bytes = plan->padding_bytes;
  plan->fields = plan->short_fields = {};
  AppendRibbonFields(shape, &plan->fields);
  AppendShortRibbonFields(shape, plan->num_keys, &plan->short_fields);
}

// Bytes that kernels may read past the second segment of a window: they read at least eight
// columns, in multiples of four.
uint64_t OverreadBytes(const RibbonShape& shape) {
  const uint32_t max_columns = shape.max_columns();
  const uint32_t words_read = max_columns <= 8    ? 8
                              : max_columns <= 16 ? (max_columns + 3) / 4 * 4
                                                  : 28;
  return (words_read - shape.columns) * 8;
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

double RibbonFpr(uint32_t columns, double wide_share) noexcept {
  return std::ldexp(1 - wide_share / 2, -static_cast<int>(columns));
}

Layout RibbonKind::ChooseLayout(double target_fpr) {
  // Start at the row that the logarithm gives, which may be inexact in the last bit.
  auto row = static_cast<uint32_t>(-std::log2(target_fpr) * kRowsPerColumn);
  row = std::clamp(row, kFirstRow + 1, kLastRow) - 1;
  while (LayoutOfRow(row).predicted_fpr > target_fpr) ++row;
  while (row > kFirstRow && LayoutOfRow(row - 1).predicted_fpr <= target_fpr) --row;
  return LayoutOfRow(row);
}

Layout RibbonKind::LayoutForBitsPerKey(double bits_per_key) {
  const double row = std::min<double>(bits_per_key * kRowsPerColumn, kLastRow);
  return LayoutOfRow(static_cast<uint32_t>(row));
}

// Within 1 % or a few bytes of the actual size.
uint64_t RibbonKind::PayloadBytes(const Layout& any_layout, uint64_t num_keys) noexcept {
  if (num_keys == 0) return 0;
  if (num_keys > kMaxSizedKeys) return UINT64_MAX;
  const Layout layout = NearestRibbonLayout(any_layout);
  // The size of the shape, but with a continuous number of wide octets: the first wide segment
  // moves in steps, and the size must not shrink with more keys.
  RibbonShape shape = ExpectedRibbonShape(layout, num_keys);
  shape.narrow_segments = shape.segments();
  const double wide_share = RibbonWideShare(layout);
  if (wide_share == 0) return shape.PayloadBytes();
  const auto wide_octets =
      static_cast<uint64_t>(wide_share * static_cast<double>(shape.octets)) + 8;
  return shape.PayloadBytes() + std::min(shape.octets, wide_octets);
}

std::string RibbonKind::LayoutText(const Layout& layout) {
  return std::to_string(layout.num_probes) + " whole column" + (layout.num_probes == 1 ? "" : "s");
}

BlockPlan RibbonKind::Plan(const Layout& layout, uint64_t num_keys) noexcept {
  const Layout row = NearestRibbonLayout(layout);
  BlockPlan plan{.kind = kKind, .num_keys = num_keys};
  const uint64_t payload_bytes = PayloadBytes(layout, num_keys);
  plan.padding_bytes = PaddingBytes(payload_bytes);
  plan.points_bytes = plan.padding_bytes + payload_bytes;
  // Blocks vary by a few slots, and by the start of the wide segments.
  plan.excess_bytes = (8 + num_keys / 8192) * (layout.num_probes + 1) / 8 + 6;
  plan.capacity = plan.padding_bytes + RibbonCapacity(row, num_keys);
  plan.working_bytes = RibbonWorkingBytes(row, num_keys);
  plan.copies_hashes = true;
  SetFields(ExpectedRibbonShape(row, num_keys), &plan);
  return plan;
}

std::string RibbonKind::Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out,
                              BlockPlan* plan) {
  const RibbonShape shape = BuildRibbon(hashes, keep, NearestRibbonLayout(layout), ActiveKernel(),
                                        out + plan->padding_bytes);
  plan->points_bytes = plan->padding_bytes + shape.PayloadBytes();
  SetFields(shape, plan);
  return shape.has_always_true_chunks ? "no ribbon found: too many similar hashes" : "";
}

Problem RibbonKind::Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept {
  RibbonShape shape;
  uint64_t num_keys;
  const Problem problem = ReadFields(footer, &shape, &num_keys);
  if (problem) return problem;
  const uint8_t* const payload = footer.points.data() + shape.padding_bytes;
  *filter = PointFilter(RibbonOpsFor(kernel, shape), MakeRibbonState(shape, payload));
  return {};
}

void RibbonKind::Describe(const Footer& footer, FilterDescription* description) noexcept {
  RibbonShape shape;
  [[maybe_unused]] const Problem problem = ReadFields(footer, &shape, &description->num_keys);
  assert(!problem);
  description->predicted_fpr = RibbonFpr(shape.columns, RibbonWideShare(shape));
}

RibbonState MakeRibbonState(const RibbonShape& shape, const uint8_t* payload) noexcept {
  assert(!CheckRibbonShape(shape, shape.PayloadBytes()));
  static_assert(sizeof(RibbonState) <= PointFilter::kMaxStateBytes);
  RibbonState state{};
  state.num_chunks = static_cast<uint32_t>(shape.chunks);
  state.narrow_segments = static_cast<uint32_t>(shape.narrow_segments);
  state.directory_or_chunk = shape.chunks == 1
                                 ? shape.octets | uint64_t{RibbonMultiplier(shape.seed, 0)} << 32
                                 : reinterpret_cast<uintptr_t>(payload) + shape.SegmentBytes();
  // If all segments are wide, their width is the first, which unmixed probes use.
  state.columns[0] = static_cast<uint8_t>(shape.columns + (shape.narrow_segments == 0 ? 1 : 0));
  state.columns[1] = static_cast<uint8_t>(shape.columns + 1);
  for (const size_t w : {size_t{0}, size_t{1}}) {
    state.strides[w] = static_cast<uint8_t>(8 * state.columns[w]);
  }
  // Each narrow segment before the wide ones is a word shorter than a wide one.
  state.origin[0] = reinterpret_cast<uintptr_t>(payload);
  state.origin[1] = state.origin[0] - shape.narrow_segments * 8;

  // Windows that lie in two whole segments, with enough readable bytes after them.
  const uint64_t whole = shape.octets / 8;
  uint64_t readable = shape.PayloadBytes() + kRibbonReadableTail - shape.SegmentBytes();
  if (shape.segments() > whole) readable += shape.octets % 8 * shape.max_columns();
  uint64_t unsafe = 1;
  while (unsafe < whole && readable < OverreadBytes(shape)) {
    readable += shape.columns * 8;
    ++unsafe;
  }
  state.fast_segments = static_cast<uint32_t>(whole > unsafe ? whole - unsafe : 0);
  return state;
}

const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept {
  assert(IsAvailable(kernel));
  const RibbonDirectory directory = shape.chunks == 1       ? RibbonDirectory::kNone
                                    : shape.BaseBytes() > 0 ? RibbonDirectory::kBased
                                                            : RibbonDirectory::kPlain;
  const auto pick = [&](const RibbonOps& ops) -> const ProbeOps& {
    return ops[static_cast<size_t>(directory)][shape.is_mixed()];
  };
  if (shape.has_always_true_chunks) {
    return directory == RibbonDirectory::kNone ? kEverythingMatches : kRibbonAlwaysTrueChunks;
  }
  [[maybe_unused]] const uint32_t columns = shape.max_columns();
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kScalar:
      return pick(__builtin_cpu_supports("popcnt") ? kRibbonPopcnt : kRibbonScalar);
    case Kernel::kAvx2:
      if (columns <= 8) return pick(kRibbonAvx2By8);
      if (columns <= 12) return pick(kRibbonAvx2By12);
      return pick(columns <= 16 ? kRibbonAvx2By16 : kRibbonAvx2By28);
    case Kernel::kAvx512:
      if (columns <= 8) return pick(kRibbonAvx512By8);
      if (columns <= 12) return pick(kRibbonAvx512By12);
      return pick(columns <= 16 ? kRibbonAvx512By16 : kRibbonAvx512By28);
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return pick(kRibbonNeon);
#endif
    default:
      return pick(kRibbonScalar);
  }
}

}  // namespace blocksieve::internal
