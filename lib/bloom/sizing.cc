// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>

#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/kind.h"

namespace blocksieve::internal {
namespace {

// Rows are 1/16 bit per key apart: 0.6 % of a filter of 10 bits per key, in integer arithmetic.
constexpr uint32_t kRowsPerBit = 16;

#include "lib/bloom/sizing_table.inc"

// Every accepted target has a row, so that a message can name one range for all kinds.
static_assert(std::end(kFprs)[-1] <= kMinTargetFpr);

constexpr size_t kNumRows = std::size(kFprs);

/// Rows are in ascending order of size and accuracy.
Layout MakeLayout(size_t row) noexcept {
  const size_t sixteenths = kFirstRow + row;
  const auto* const more = std::upper_bound(std::begin(kProbes), std::end(kProbes), sixteenths);
  return {FilterKind::kBlockedBloom, static_cast<double>(sixteenths) / kRowsPerBit,
          static_cast<uint32_t>(more - std::begin(kProbes)), kFprs[row]};
}

}  // namespace

Layout BloomKind::ChooseLayout(double target_fpr) {
  const auto* const row = std::lower_bound(std::begin(kFprs), std::end(kFprs), target_fpr,
                                           [](double fpr, double target) { return fpr > target; });
  return MakeLayout(static_cast<size_t>(row - std::begin(kFprs)));
}

double BloomKind::MinBitsPerKey() { return double{kFirstRow} / kRowsPerBit; }

Layout BloomKind::LayoutForBitsPerKey(double bits_per_key) {
  const double row = std::min<double>(kNumRows - 1, bits_per_key * kRowsPerBit - kFirstRow);
  return MakeLayout(static_cast<size_t>(row));
}

uint64_t BloomKind::PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept {
  using Wide = unsigned __int128;
  constexpr Wide kSixteenthsPerLine = Wide{kLineBytes} * 8 * kRowsPerBit;
  // Rounded up, and clamped so that all products stay below 2^128.
  const double per_key = std::ceil(layout.bits_per_key * kRowsPerBit);
  const Wide sixteenths =
      Wide{num_keys} * (per_key >= 1 ? static_cast<uint64_t>(std::min(per_key, 0x1p32)) : 1);
  const Wide bytes = (sixteenths + kSixteenthsPerLine - 1) / kSixteenthsPerLine * kLineBytes;
  return static_cast<uint64_t>(std::min<Wide>(bytes, UINT64_MAX));
}

}  // namespace blocksieve::internal
