#include "lib/bloom/sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "lib/base/errors.h"
#include "lib/bloom/blocked_bloom.h"

namespace blocksieve::internal {
namespace {

// Rows are 1/16 bit per key apart: 0.6 % of a filter of 10 bits per key, in integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

#include "lib/bloom/sizing_table.inc"

// Every accepted target has a row, so that a message can name one range for all kinds.
static_assert(std::end(kClassicFprs)[-1] <= kMinTargetFpr);
static_assert(std::end(kBlockedFprs)[-1] <= kMinTargetFpr);

/// Rows in ascending order of size and accuracy.
struct Table {
  std::span<const double> fprs;
  std::span<const uint16_t> probes_from;
};

Table TableOf(FilterKind kind) noexcept {
  if (kind == FilterKind::kClassicBloom) return {kClassicFprs, kClassicProbes};
  return {kBlockedFprs, kBlockedProbes};
}

Layout LayoutOf(FilterKind kind, const Table& table, size_t row) noexcept {
  const size_t sixteenths = kFirstRow + row;
  const auto more =
      std::upper_bound(table.probes_from.begin(), table.probes_from.end(), sixteenths);
  return {kind, static_cast<double>(sixteenths) / kRowsPerBit,
          static_cast<uint32_t>(more - table.probes_from.begin()), table.fprs[row]};
}

using Wide = unsigned __int128;

uint64_t Saturate(Wide value) noexcept {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  return value < kMax ? static_cast<uint64_t>(value) : kMax;
}

/// Sixteenths of a bit per key, rounded up and clamped so that all products stay below 2^128.
Wide SixteenthsPerKey(const Layout& layout) noexcept {
  const double sixteenths = std::ceil(layout.bits_per_key * kRowsPerBit);
  if (!(sixteenths >= 1)) return 1;
  return static_cast<uint64_t>(std::min(sixteenths, 0x1p32));
}

/// The unit that payloads are multiples of.
uint64_t UnitBytes(const Layout& layout) noexcept {
  return layout.kind == FilterKind::kBlockedBloom ? kLineBytes : 1;
}

Wide SixteenthsPerUnit(const Layout& layout) noexcept {
  return Wide{UnitBytes(layout)} * 8 * kRowsPerBit;
}

}  // namespace

Result<Layout> ChooseBloomLayout(FilterKind kind, double target_fpr) {
  const Table table = TableOf(kind);
  if (!(target_fpr >= kMinTargetFpr && target_fpr <= kMaxTargetFpr)) {
    return OutOfRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr);
  }
  const auto fpr = std::partition_point(table.fprs.begin(), table.fprs.end(),
                                        [&](double too_high) { return too_high > target_fpr; });
  return LayoutOf(kind, table, static_cast<size_t>(fpr - table.fprs.begin()));
}

Result<Layout> BloomLayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  const Table table = TableOf(kind);
  if (!(bits_per_key * kRowsPerBit >= kFirstRow)) {
    return OutOfRange("bits_per_key", bits_per_key, double{kFirstRow} / kRowsPerBit,
                      std::numeric_limits<double>::infinity());
  }
  const auto last = static_cast<double>(table.fprs.size() - 1);
  const double row = std::min(last, bits_per_key * kRowsPerBit - kFirstRow);
  return LayoutOf(kind, table, static_cast<size_t>(row));
}

uint64_t BloomPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  const Wide per_unit = SixteenthsPerUnit(layout);
  const Wide units = (num_keys * SixteenthsPerKey(layout) + per_unit - 1) / per_unit;
  return Saturate(units * UnitBytes(layout));
}

uint64_t MaxBloomKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  const Wide units = payload_bytes / UnitBytes(layout);
  return Saturate(units * SixteenthsPerUnit(layout) / SixteenthsPerKey(layout));
}

std::string BloomLayoutText(const Layout& layout) {
  return "k = " + std::to_string(layout.num_probes);
}

}  // namespace blocksieve::internal
