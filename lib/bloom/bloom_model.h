#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "blocksieve/sizing.h"

// False-positive rates of blocked Bloom filters besides BlockedBloomFpr: exact rates for any number
// of keys, and the rule that makes the rows of the lookup table from them.

namespace blocksieve::internal {

/// FPR of `num_keys` keys with `num_probes` independent positions each among `num_bits` bits:
/// E[(X/num_bits)^num_probes], X being the number of distinct bits set. It is above the textbook
/// formula for few bits, by about .1 k / num_keys (Bose et al., "On the false-positive rate of
/// Bloom filters", 2008). Takes time linear in num_keys.
/// REQUIRES: num_bits >= 1, 1 <= num_probes <= 32.
double BloomFprForKeys(uint64_t num_bits, uint64_t num_keys, uint32_t num_probes) noexcept;

/// FPR of a blocked filter of `num_lines` 512-bit lines: like BlockedBloomFpr, with the binomial
/// distribution instead of its limit.
/// REQUIRES: num_lines >= 1, 1 <= num_probes <= 32.
double BlockedBloomFprForKeys(uint64_t num_lines, uint64_t num_keys, uint32_t num_probes) noexcept;

/// The row of the lookup table before rounding: the best number of probes for many keys, with the
/// highest FPR of any number of keys. REQUIRES: bits_per_key > 0, a multiple of 1/16.
Layout BestLayout(double bits_per_key) noexcept;

}  // namespace blocksieve::internal
