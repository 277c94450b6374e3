// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/sizing.h"

#include <algorithm>
#include <cmath>

#include "lib/ribbon/kind.h"

namespace blocksieve::internal {
namespace {

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

}  // namespace

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

Layout NearestRibbonLayout(const Layout& layout) noexcept {
  const double row = std::ceil(layout.bits_per_key * kRowsPerColumn);
  if (!(row >= kFirstRow)) return LayoutOfRow(kFirstRow);
  return LayoutOfRow(static_cast<uint32_t>(std::min<double>(row, kLastRow)));
}

RibbonShape ExpectedRibbonShape(const Layout& layout, uint64_t num_keys) noexcept {
  RibbonShape shape;
  shape.columns = layout.num_probes;
  shape.chunks = ChooseRibbonChunks(num_keys).total();
  // Two spare slots, and the measured number of empty columns: see RIBBON.md.
  shape.octets = std::max(kMinRibbonOctets, (num_keys + 2 + num_keys / 2500 + 7) / 8);
  shape.narrow_segments = RibbonNarrowSegments(shape.octets, RibbonWideShare(layout));
  return shape;
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

}  // namespace blocksieve::internal
