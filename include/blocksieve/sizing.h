#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"

/// \file
/// Chooses the layout of a filter for a target false-positive rate (FPR), and the inverse.

namespace blocksieve {

/// The kinds of filter block, and what goals and policies may ask for. (Filters to which keys can
/// be added later are in bloom.h.) The values of this library's kinds are part of the byte format.
enum class FilterKind : uint8_t {
  kNone = 0,          ///< No filter of keys: a block with sections for ranges only.
  kBlockedBloom = 1,  ///< k bits in one cache line: the fastest to build and to probe.
  kRibbon = 2,        ///< A chunk-seeded ribbon: the smallest.

  /// @{
  /// A kind that depends on how long a file lives; ChooseKind (tree.h) says which.
  kAuto = 252,   ///< Blocked Bloom for short-lived files (flushes), ribbon for all others.
  kStock = 253,  ///< RocksDB's own: Bloom for short-lived files, Ribbon for all others.
  /// @}

  /// @{
  /// RocksDB's own filters, for plans of trees only: they have sizes and rates, but this library
  /// does not build them, and no block has these values. There are 32 rates per decade down to
  /// 0.001, and 12 below.
  kStockBloom = 254,
  kStockRibbon = 255,  ///< Takes 2 % less than its layout says, for few keys, to 4 % more.
  /// @}
};

/// "none", "bloom" (blocked Bloom), "ribbon", "auto", "stock", "stock bloom" or "stock ribbon";
/// "unknown" for any other value.
BLOCKSIEVE_EXPORT std::string_view FilterKindName(FilterKind kind) noexcept;

/// The kinds that this library builds, in the order of their values: without kNone.
BLOCKSIEVE_EXPORT std::vector<FilterKind> AllFilterKinds();

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

/// The inverse: the maximum number of keys whose payload fits in `payload_bytes`.
/// PayloadBytes(layout, MaxKeys(layout, b)) <= b < PayloadBytes(layout, MaxKeys(layout, b) + 1),
/// for b up to 2^60 and at least one bit per key. UINT64_MAX on overflow.
BLOCKSIEVE_EXPORT uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// Bytes of the filter block for `num_keys` keys, payload and footer, without sections for ranges;
/// for a ribbon, within a few bytes and 0.1 %. UINT64_MAX if 2^63 or more. `has_sections`: with the
/// footer of a block that has them, which is never short.
BLOCKSIEVE_EXPORT uint64_t BlockBytes(const Layout& layout, uint64_t num_keys,
                                      bool has_sections = false) noexcept;

/// The inverse: the maximum number of keys whose block fits in `block_bytes`, or 0.
BLOCKSIEVE_EXPORT uint64_t MaxBlockKeys(const Layout& layout, uint64_t block_bytes) noexcept;

/// The layout of lowest FPR whose block for `num_keys` keys fits in `block_bytes`; the smallest
/// layout of the kind if none fits; that of kNone for kinds without layouts.
BLOCKSIEVE_EXPORT Layout LayoutForBlockBytes(FilterKind kind, uint64_t num_keys,
                                             uint64_t block_bytes);

/// FPR of a Bloom filter blocked into 512-bit lines with `num_probes` independent positions in a
/// line, for many keys: the mean over the Poisson-distributed number of keys in a line of
/// E[(X/512)^k], X being the number of distinct bits set (Putze, Sanders, Singler, "Cache-, Hash-
/// and Space-Efficient Bloom Filters", 2007, with the occupancy moments in place of their average).
/// REQUIRES: bits_per_key > 0, 1 <= num_probes <= 32.
BLOCKSIEVE_EXPORT double BlockedBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

/// The FPR of RocksDB's Bloom filter, by the same model. RocksDB's positions in a line are not
/// quite independent: up to 5 % more pass. 1 below half a bit per key, where RocksDB builds no
/// filter.
BLOCKSIEVE_EXPORT double StockBloomFpr(double bits_per_key) noexcept;

/// Bytes after the payload of RocksDB's own filters: their kind and parameters.
inline constexpr uint64_t kStockTrailerBytes = 5;

/// Slots per key of RocksDB's Ribbon filters in usual files, of a quarter million keys.
inline constexpr double kStockSlotsPerKey = 1.04;

/// The FPR of RocksDB's Ribbon filter with this many bits per slot, its columns: it halves with
/// each column. A fraction is the share of slots that have one more.
inline double StockRibbonFpr(double columns) noexcept {
  const double whole = std::floor(columns);
  return std::exp2(-whole) * (1 - (columns - whole) / 2);
}

/// The option, in bits per key, with which RocksDB's policy of this stock kind builds filters of at
/// most this FPR: the minimum, in thousandths, up to 100. For Ribbon filters, those of the Bloom
/// filter of which RocksDB estimates this FPR.
BLOCKSIEVE_EXPORT double StockBitsPerKey(FilterKind kind, double fpr) noexcept;

inline constexpr double kMinRangeFpr = 1e-5;  ///< Lowest FilterOptions::range_fpr.
inline constexpr double kMaxRangeFpr = 0.3;   ///< The highest.

/// Bits per key of a range filter with this FPR, for many dissimilar keys; the filter takes about
/// 100 bytes more. REQUIRES: kMinRangeFpr <= range_fpr <= kMaxRangeFpr
BLOCKSIEVE_EXPORT double RangeBitsPerKey(double range_fpr) noexcept;

/// Layout::num_probes for reports: "k = 7", "6 whole columns".
BLOCKSIEVE_EXPORT std::string LayoutText(const Layout& layout);

}  // namespace blocksieve
