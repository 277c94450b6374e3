#include "lib/ribbon/sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/out_of_range.h"

namespace blocksieve::internal {
namespace {

constexpr uint32_t kRowsPerColumn = 16;
constexpr uint32_t kFirstRow = kRowsPerColumn;
constexpr uint32_t kLastRow = kMaxRibbonColumns * kRowsPerColumn;

RibbonTarget TargetOfRow(uint32_t row) noexcept {
  return {row / kRowsPerColumn, static_cast<double>(row % kRowsPerColumn) / kRowsPerColumn};
}

Layout LayoutOfRow(uint32_t row) noexcept {
  const RibbonTarget target = TargetOfRow(row);
  return {FilterKind::kRibbon, static_cast<double>(row) / kRowsPerColumn, target.columns,
          RibbonFpr(target.columns, target.wide_share)};
}

}  // namespace

double RibbonFpr(uint32_t columns, double wide_share) noexcept {
  return std::ldexp(1 - wide_share / 2, -static_cast<int>(columns));
}

Result<Layout> ChooseRibbonLayout(double target_fpr) {
  if (!(target_fpr >= kMinTargetFpr && target_fpr <= kMaxTargetFpr)) {
    return OutOfRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr);
  }
  // The first row that may do; the logarithm is not exact to the last bit.
  auto row = static_cast<uint32_t>(-std::log2(target_fpr) * kRowsPerColumn);
  row = std::clamp(row, kFirstRow + 1, kLastRow) - 1;
  while (LayoutOfRow(row).predicted_fpr > target_fpr) ++row;
  while (row > kFirstRow && LayoutOfRow(row - 1).predicted_fpr <= target_fpr) --row;
  return LayoutOfRow(row);
}

Result<Layout> RibbonLayoutForBitsPerKey(double bits_per_key) {
  if (!(bits_per_key >= 1)) {
    return OutOfRange("bits_per_key", bits_per_key, 1, std::numeric_limits<double>::infinity());
  }
  const double row = std::min<double>(bits_per_key * kRowsPerColumn, kLastRow);
  return LayoutOfRow(static_cast<uint32_t>(row));
}

RibbonTarget RibbonTargetOf(const Layout& layout) noexcept {
  const double row = std::ceil(layout.bits_per_key * kRowsPerColumn);
  if (!(row >= kFirstRow)) return TargetOfRow(kFirstRow);
  return TargetOfRow(static_cast<uint32_t>(std::min<double>(row, kLastRow)));
}

uint64_t RibbonPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  return ExpectedRibbonPayload(RibbonTargetOf(layout), num_keys);
}

uint64_t MaxRibbonKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  // No layout takes less than a bit per key.
  uint64_t fits = 0;
  uint64_t too_many = std::min(payload_bytes, UINT64_MAX / 16) * 8 + 1;
  while (too_many - fits > 1) {
    const uint64_t middle = fits + (too_many - fits) / 2;
    (RibbonPayloadBytes(layout, middle) <= payload_bytes ? fits : too_many) = middle;
  }
  return fits;
}

}  // namespace blocksieve::internal
