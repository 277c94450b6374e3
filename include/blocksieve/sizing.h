#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/status.h"

/// \file
/// Chooses the layout of a filter for a target false-positive rate (FPR), and the inverse.

namespace blocksieve {

/// The kinds of filter block. (Filters to which keys can be added later are in bloom.h.) The values
/// are part of the byte format.
enum class FilterKind : uint8_t {
  kBlockedBloom = 2,  ///< k bits in one cache line: the fastest to build and to probe.
  kRibbon = 3,        ///< A chunk-seeded ribbon: the smallest.
};

/// "bloom" (blocked Bloom) or "ribbon"; "unknown" for any other value.
BLOCKSIEVE_EXPORT std::string_view FilterKindName(FilterKind kind) noexcept;

/// The layout of a filter, and its FPR.
struct Layout {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Kind of the filter.
  double bits_per_key = 0;   ///< Payload bits per key, > 0; rounded up to a multiple of 1/16.
  uint32_t num_probes = 0;   ///< Bits set per key (k), >= 1; for a ribbon, its whole columns.
  double predicted_fpr = 1;  ///< FPR of the exact model at these bits per key, or just above.
};

inline constexpr double kMinTargetFpr = 1e-7;  ///< Lowest target FPR in ChooseLayout, of any kind.
inline constexpr double kMaxTargetFpr = 0.5;   ///< The highest.

/// The smallest layout in the lookup table of `kind` whose FPR is at or below `target_fpr`; among
/// layouts of equal size, the one with the lowest FPR. Size is monotone in the target, which a
/// blocked Bloom filter of PayloadBytes meets with any number of keys.
///
/// Errors: InvalidArgument if the target is NaN or outside [kMinTargetFpr, kMaxTargetFpr], or there
/// is no such kind; never a silent clamp.
BLOCKSIEVE_EXPORT Result<Layout> ChooseLayout(FilterKind kind, double target_fpr);

/// The layout of lowest FPR in the table with at most `bits_per_key` bits per key. It may use
/// fewer: the table ends at its most accurate row.
/// Errors: InvalidArgument if `bits_per_key` is NaN or below the smallest row of the table.
BLOCKSIEVE_EXPORT Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key);

/// Payload size (without footer) for `num_keys` keys, in whole bytes; 0 for 0 keys. Blocked Bloom
/// rounds up to 64-byte lines. A ribbon takes about 0.3 % more than its bits per key, plus or minus
/// a few bytes or 0.1 % by chance. UINT64_MAX on overflow, and for a ribbon of more than 2^60 keys.
BLOCKSIEVE_EXPORT uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;

}  // namespace blocksieve
