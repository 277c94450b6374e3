#pragma once

#include <cstdint>

#include "blocksieve/filter_kind.h"

namespace blocksieve {

/// How a filter is laid out, and what false-positive rate (FPR) that gives.
struct Layout {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Of the filter.

  /// Payload bits per key, > 0, a multiple of 1/16 (others count as the next one); payloads round
  /// up to whole bytes or lines.
  double bits_per_key = 0;
  uint32_t num_probes = 0;   ///< Bits set per key (k), >= 1; of a ribbon, its whole columns.
  double predicted_fpr = 1;  ///< The exact model's FPR at these bits per key, rounded up.
};

/// @{
/// The range of target FPRs that ChooseLayout accepts, for any kind.
inline constexpr double kMinTargetFpr = 1e-7;
inline constexpr double kMaxTargetFpr = 0.5;
/// @}

}  // namespace blocksieve
