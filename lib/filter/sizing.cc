#include "blocksieve/sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "lib/base/out_of_memory.h"
#include "lib/base/out_of_range.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve {
namespace {

// Rows are a sixteenth of a bit per key apart: 0.6 % of the size of a filter of 10 bits, and sizes
// stay integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

struct Row {
  uint16_t sixteenths;  // bits per key * kRowsPerBit
  uint16_t num_probes;
  double fpr;  // never below the model
};

#include "lib/bloom/sizing_table.inc"

// So that every target that is accepted has a row, and a message can name one range for all kinds.
static_assert(std::end(kClassicRows)[-1].fpr <= kMinTargetFpr);
static_assert(std::end(kBlockedRows)[-1].fpr <= kMinTargetFpr);

/// Rows from the smallest and least accurate on; none if the kind has no table.
std::span<const Row> TableOf(FilterKind kind) noexcept {
  switch (kind) {
    case FilterKind::kClassicBloom:
      return kClassicRows;
    case FilterKind::kBlockedBloom:
      return kBlockedRows;
    default:
      return {};
  }
}

Layout LayoutOf(FilterKind kind, const Row& row) noexcept {
  return {kind, static_cast<double>(row.sixteenths) / kRowsPerBit, row.num_probes, row.fpr};
}

Status NoTable(FilterKind kind) try {
  return Status::InvalidArgument("filter kind is " + std::string(FilterKindName(kind)) +
                                 "; allowed is one that has a sizing table");
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

using Wide = unsigned __int128;

uint64_t Saturate(Wide value) noexcept {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  return value < kMax ? static_cast<uint64_t>(value) : kMax;
}

/// Sixteenths of a bit per key, rounded up; within bounds that keep all products below 2^128.
Wide SixteenthsPerKey(const Layout& layout) noexcept {
  const double sixteenths = std::ceil(layout.bits_per_key * kRowsPerBit);
  if (!(sixteenths >= 1)) return 1;
  return static_cast<uint64_t>(std::min(sixteenths, 0x1p32));
}

/// Payloads are whole multiples of this.
uint64_t UnitBytes(const Layout& layout) noexcept {
  return layout.kind == FilterKind::kBlockedBloom ? internal::kLineBytes : 1;
}

Wide SixteenthsPerUnit(const Layout& layout) noexcept {
  return Wide{UnitBytes(layout)} * 8 * kRowsPerBit;
}

}  // namespace

Result<Layout> ChooseLayout(FilterKind kind, double target_fpr) {
  if (kind == FilterKind::kRibbon) return internal::ChooseRibbonLayout(target_fpr);
  const std::span<const Row> rows = TableOf(kind);
  if (rows.empty()) return NoTable(kind);
  if (!(target_fpr >= kMinTargetFpr && target_fpr <= kMaxTargetFpr)) {
    return internal::OutOfRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr);
  }
  const auto row = std::partition_point(rows.begin(), rows.end(),
                                        [&](const Row& r) { return r.fpr > target_fpr; });
  return LayoutOf(kind, *row);
}

Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  if (kind == FilterKind::kRibbon) return internal::RibbonLayoutForBitsPerKey(bits_per_key);
  const std::span<const Row> rows = TableOf(kind);
  if (rows.empty()) return NoTable(kind);
  const auto too_large = std::partition_point(rows.begin(), rows.end(), [&](const Row& row) {
    return row.sixteenths <= bits_per_key * kRowsPerBit;
  });
  if (too_large == rows.begin()) {
    return internal::OutOfRange("bits_per_key", bits_per_key,
                                LayoutOf(kind, rows.front()).bits_per_key,
                                std::numeric_limits<double>::infinity());
  }
  return LayoutOf(kind, too_large[-1]);
}

uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  if (layout.kind == FilterKind::kRibbon) return internal::RibbonPayloadBytes(layout, num_keys);
  const Wide per_unit = SixteenthsPerUnit(layout);
  const Wide units = (num_keys * SixteenthsPerKey(layout) + per_unit - 1) / per_unit;
  return Saturate(units * UnitBytes(layout));
}

uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  if (layout.kind == FilterKind::kRibbon) return internal::MaxRibbonKeys(layout, payload_bytes);
  const Wide units = payload_bytes / UnitBytes(layout);
  return Saturate(units * SixteenthsPerUnit(layout) / SixteenthsPerKey(layout));
}

}  // namespace blocksieve
