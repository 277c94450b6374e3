#include "lib/bloom/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include "lib/base/errors.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/bloom_model.h"

namespace blocksieve::internal {
namespace {

// Rows are 1/16 bit per key apart: 0.6 % of a filter of 10 bits per key, in integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

#include "lib/bloom/sizing_table.inc"

// Every accepted target has a row, so that a message can name one range for all kinds.
static_assert(std::end(kBlockedFprs)[-1] <= kMinTargetFpr);

size_t NumRows(FilterKind kind) noexcept {
  return kind == FilterKind::kClassicBloom ? kClassicRows : std::size(kBlockedFprs);
}

/// Rows are in ascending order of size and accuracy.
Layout LayoutOf(FilterKind kind, size_t row) noexcept {
  const size_t sixteenths = kFirstRow + row;
  const double bits_per_key = static_cast<double>(sixteenths) / kRowsPerBit;
  const bool classic = kind == FilterKind::kClassicBloom;
  const std::span<const uint16_t> probes_from =
      classic ? std::span<const uint16_t>(kClassicProbes) : kBlockedProbes;
  const auto more = std::upper_bound(probes_from.begin(), probes_from.end(), sixteenths);
  const auto num_probes = static_cast<uint32_t>(more - probes_from.begin());
  return {kind, bits_per_key, num_probes,
          classic ? ClassicBloomFpr(bits_per_key, num_probes) : kBlockedFprs[row]};
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
  if (!(target_fpr >= kMinTargetFpr && target_fpr <= kMaxTargetFpr)) {
    return OutOfRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr);
  }
  size_t row = 0;  // the number of rows that are not accurate enough
  for (size_t step = std::bit_floor(NumRows(kind)); step != 0; step /= 2) {
    if (row + step > NumRows(kind)) continue;
    if (LayoutOf(kind, row + step - 1).predicted_fpr > target_fpr) row += step;
  }
  return LayoutOf(kind, row);
}

Result<Layout> BloomLayoutForBitsPerKey(FilterKind kind, double bits_per_key) {
  if (!(bits_per_key * kRowsPerBit >= kFirstRow)) {
    return OutOfRange("bits_per_key", bits_per_key, double{kFirstRow} / kRowsPerBit,
                      std::numeric_limits<double>::infinity());
  }
  const auto last = static_cast<double>(NumRows(kind) - 1);
  const double row = std::min(last, bits_per_key * kRowsPerBit - kFirstRow);
  return LayoutOf(kind, static_cast<size_t>(row));
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
