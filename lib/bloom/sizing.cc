#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "lib/base/errors.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/family.h"

namespace blocksieve::internal {
namespace {

// Rows are 1/16 bit per key apart: 0.6 % of a filter of 10 bits per key, in integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

#include "lib/bloom/sizing_table.inc"

// Every accepted target has a row, so that a message can name one range for all kinds.
static_assert(std::end(kFprs)[-1] <= kMinTargetFpr);

constexpr size_t kNumRows = std::size(kFprs);

/// Rows are in ascending order of size and accuracy.
Layout LayoutOf(size_t row) noexcept {
  const size_t sixteenths = kFirstRow + row;
  const auto* const more = std::upper_bound(std::begin(kProbes), std::end(kProbes), sixteenths);
  return {FilterKind::kBlockedBloom, static_cast<double>(sixteenths) / kRowsPerBit,
          static_cast<uint32_t>(more - std::begin(kProbes)), kFprs[row]};
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

constexpr Wide kSixteenthsPerLine = Wide{kLineBytes} * 8 * kRowsPerBit;

}  // namespace

Result<Layout> BloomFamily::ChooseLayout(double target_fpr) {
  if (!(target_fpr >= kMinTargetFpr && target_fpr <= kMaxTargetFpr)) {
    return OutOfRange("target_fpr", target_fpr, kMinTargetFpr, kMaxTargetFpr);
  }
  const auto* const row = std::lower_bound(std::begin(kFprs), std::end(kFprs), target_fpr,
                                           [](double fpr, double target) { return fpr > target; });
  return LayoutOf(static_cast<size_t>(row - std::begin(kFprs)));
}

Result<Layout> BloomFamily::LayoutForBitsPerKey(double bits_per_key) {
  if (!(bits_per_key * kRowsPerBit >= kFirstRow)) {
    return OutOfRange("bits_per_key", bits_per_key, double{kFirstRow} / kRowsPerBit,
                      std::numeric_limits<double>::infinity());
  }
  const double row = std::min<double>(kNumRows - 1, bits_per_key * kRowsPerBit - kFirstRow);
  return LayoutOf(static_cast<size_t>(row));
}

uint64_t BloomFamily::PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  const Wide sixteenths = num_keys * SixteenthsPerKey(layout);
  const Wide lines = (sixteenths + kSixteenthsPerLine - 1) / kSixteenthsPerLine;
  return Saturate(lines * kLineBytes);
}

uint64_t BloomFamily::MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept {
  const Wide lines = payload_bytes / kLineBytes;
  return Saturate(lines * kSixteenthsPerLine / SixteenthsPerKey(layout));
}

}  // namespace blocksieve::internal
