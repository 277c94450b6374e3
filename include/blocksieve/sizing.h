#pragma once

#include <cstdint>
#include <string>

#include "blocksieve/filter_info.h"
#include "blocksieve/status.h"

namespace blocksieve {

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
/// has about 0.3 % more, and chance moves it by a few bytes or 0.1 % to either side. The largest
/// uint64_t if it would be more, and for a ribbon of more than 2^60 keys.
uint64_t PayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// The inverse: the most keys whose payload fits in `payload_bytes`;
/// PayloadBytes(layout, MaxKeys(layout, b)) <= b < PayloadBytes(layout, MaxKeys(layout, b) + 1),
/// for b up to 2^60 and at least one bit per key. The largest uint64_t if it would be more.
uint64_t MaxKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

/// What Layout::num_probes is, for reports: "k = 7", "6 whole columns". Throws std::bad_alloc.
std::string LayoutText(const Layout& layout);

}  // namespace blocksieve
