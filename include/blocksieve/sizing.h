#pragma once

#include <cstdint>

#include "blocksieve/filter_kind.h"
#include "blocksieve/status.h"

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

/// Lowest target FPR that ChooseLayout accepts for any kind.
inline constexpr double kMinTargetFpr = 1e-7;
/// And the highest.
inline constexpr double kMaxTargetFpr = 0.5;

/// The smallest layout in the lookup table of `kind` whose FPR is at or below `target_fpr`. Size is
/// monotone in the target. Of equally small layouts the one with the lowest FPR.
///
/// A blocked Bloom filter of PayloadBytes meets the target with any number of keys. A classic one
/// of few keys is above it, by a fraction of about .1 k / num_keys; a byte more than PayloadBytes
/// is enough to meet it.
///
/// Errors: InvalidArgument if the target is NaN or outside [kMinTargetFpr, kMaxTargetFpr], or the
/// kind has no table; never a silent clamp. Thread-safe, as is everything in this header.
Result<Layout> ChooseLayout(FilterKind kind, double target_fpr);

/// The table's layout of the lowest FPR with at most `bits_per_key` bits per key; the most accurate
/// row if there are more than it needs.
/// Errors: InvalidArgument if not even the smallest row of the table fits, or NaN.
Result<Layout> LayoutForBitsPerKey(FilterKind kind, double bits_per_key);

/// Bytes of payload (without footer) for `num_keys` keys; 0 for 0 keys. Blocked Bloom rounds up to
/// whole 64-byte lines. The bits per key of a ribbon are those that tell keys apart; its payload
/// has about 0.3 % more, and as chance decides, a few bytes or 0.1 % more or less than said here.
/// The largest uint64_t if it would be more, of a ribbon for more than 2^60 keys.
uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// The inverse: the most keys whose payload fits in `payload_bytes`;
/// PayloadBytes(layout, MaxKeys(layout, b)) <= b < PayloadBytes(layout, MaxKeys(layout, b) + 1),
/// for b up to 2^60 and at least one bit per key. The largest uint64_t if it would be more.
uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// FPR of a classic Bloom filter with many keys: (1 - e^(-k/b))^k (Bloom, 1970; Mullin, 1983).
/// REQUIRES: bits_per_key > 0, num_probes >= 1.
double ClassicBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

/// FPR of a Bloom filter blocked into 512-bit lines with `num_probes` independent positions in a
/// line, for many keys: the mean over the Poisson-distributed number of keys in a line of
/// E[(X/512)^k], X being the number of distinct bits set (Putze, Sanders, Singler, "Cache-, Hash-
/// and Space-Efficient Bloom Filters", 2007, with the occupancy moments in place of their average).
/// REQUIRES: bits_per_key > 0, 1 <= num_probes <= 32.
double BlockedBloomFpr(double bits_per_key, uint32_t num_probes) noexcept;

/// A layout as ClickHouse picks it: whole bits per key and number of hash functions.
struct ClickHouseLayout {
  uint32_t bits_per_key = 0;  ///< 2 to 20.
  uint32_t num_hashes = 0;    ///< Bits that a key sets (k).
};

/// What ClickHouse's table gives for a target FPR, for comparison, with its known holes fixed
/// (lib/bloom/clickhouse_table.cc lists them).
/// Errors: InvalidArgument if the target is NaN, above 1, or below 6.71e-5, which no row of the
/// table reaches.
Result<ClickHouseLayout> clickhouse_best_practice(double target_fpr);

}  // namespace blocksieve
