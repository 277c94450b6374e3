#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"

/// \file
/// From a target false-positive rate (FPR) to the layout of a filter, and back. Thread-safe.

namespace blocksieve {

/// The kinds of filter that a filter block can hold. The values are part of the byte format.
enum class FilterKind : uint8_t {
  kClassicBloom = 1,   ///< k bits anywhere (bloom.h); can be added to and united.
  kBlockedBloom = 2,   ///< k bits in one cache line: the fastest to build and to probe.
  kRibbon = 3,         ///< A chunk-seeded ribbon: the smallest.
  kCountingBloom = 4,  ///< Counters in place of bits (bloom.h): keys can be removed.
};

/// "classic", "bloom" (blocked Bloom), "ribbon" or "counting"; "unknown" for any other value.
BLOCKSIEVE_EXPORT std::string_view FilterKindName(FilterKind kind) noexcept;

/// The kinds with a sizing table, in the order of their values. Throws std::bad_alloc.
BLOCKSIEVE_EXPORT std::vector<FilterKind> SizedFilterKinds();

/// The kinds that FilterBuilder builds, in the order of their values. Throws std::bad_alloc.
BLOCKSIEVE_EXPORT std::vector<FilterKind> BuildableFilterKinds();

/// How a filter is laid out, and which FPR that gives.
struct Layout {
  FilterKind kind = FilterKind::kBlockedBloom;  ///< Kind of the filter.

  /// Payload bits per key, > 0, a multiple of 1/16 (others are rounded up); payloads round up to
  /// whole bytes or lines.
  double bits_per_key = 0;
  uint32_t num_probes = 0;   ///< Bits set per key (k), >= 1; of a ribbon, its whole columns.
  double predicted_fpr = 1;  ///< The exact model's FPR at these bits per key, rounded up.
};

/// @{
/// The range of target FPRs that ChooseLayout accepts, for any kind.
inline constexpr double kMinTargetFpr = 1e-7;
inline constexpr double kMaxTargetFpr = 0.5;
/// @}

/// The smallest layout in the lookup table of `kind` whose FPR is at or below `target_fpr`. Size is
/// monotone in the target. Of equally small layouts the one with the lowest FPR.
///
/// A blocked Bloom filter of PayloadBytes meets the target with any number of keys. A classic one
/// of few keys is above it, by a fraction of about .1 k / num_keys; a byte more than PayloadBytes
/// is enough to meet it.
///
/// Errors: InvalidArgument if the target is NaN or outside [kMinTargetFpr, kMaxTargetFpr], or the
/// kind has no table; never a silent clamp.
BLOCKSIEVE_EXPORT Result<Layout> ChooseLayout(FilterKind kind, double target_fpr);

/// The table's layout of the lowest FPR with at most `bits_per_key` bits per key; the most accurate
/// row if there are more than it needs.
/// Errors: InvalidArgument if not even the smallest row of the table fits, or NaN.
BLOCKSIEVE_EXPORT Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key);

/// Bytes of payload (without footer) for `num_keys` keys; 0 for 0 keys. Blocked Bloom rounds up to
/// whole 64-byte lines. A ribbon's payload is about 0.3 % above its bits per key, and chance moves
/// it by a few bytes or 0.1 % to either side. UINT64_MAX if it would be more, and for a ribbon of
/// more than 2^60 keys.
BLOCKSIEVE_EXPORT uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// The inverse: the most keys whose payload fits in `payload_bytes`;
/// PayloadBytes(layout, MaxKeys(layout, b)) <= b < PayloadBytes(layout, MaxKeys(layout, b) + 1),
/// for b up to 2^60 and at least one bit per key. UINT64_MAX if it would be more.
BLOCKSIEVE_EXPORT uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// What Layout::num_probes is, for reports: "k = 7", "6 whole columns". Throws std::bad_alloc.
BLOCKSIEVE_EXPORT std::string LayoutText(const Layout& layout);

}  // namespace blocksieve
