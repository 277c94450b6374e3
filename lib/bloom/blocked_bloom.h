#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstdint>
#include <span>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "lib/base/coding.h"
#include "lib/base/kernels.h"

// Blocked Bloom filter: a key sets `num_probes` bits anywhere in one 64-byte line. A probe touches
// one cache line, and SIMD tests all bits at once. Layouts that confine each bit to a lane are no
// faster and have more false positives.
//
// The line comes from the high bits of the hash, the pattern from its low 32 bits. If they shared
// bits, the FPR would be several times higher.

namespace blocksieve::internal {

inline constexpr size_t kLineBytes = 64;
inline constexpr uint32_t kMaxLineProbes = 16;  // positions in one 512-bit register

/// Position j of a pattern is the top nine bits of (low 32 bits of the hash) * kPatternFactors[j].
/// The factors are the powers of the golden ratio, from the first, as a 32-bit fraction.
inline constexpr std::array<uint32_t, kMaxLineProbes> kPatternFactors = [] {
  std::array<uint32_t, kMaxLineProbes> factors{};
  uint32_t power = 1;
  for (uint32_t& factor : factors) factor = power *= 0x9E3779B9u;
  return factors;
}();

/// Maps the hash to [0, num_lines) by its high bits.
BLOCKSIEVE_INLINE uint64_t LineOf(uint64_t hash, uint64_t num_lines) noexcept {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_lines) >> 64);
}

/// Constants of kernels that test a register of positions at a time.
struct PatternRow {
  uint32_t factors[16];  // copies of the first from the number of probes on
  uint32_t ones[16];     // loaded, because computing them takes two instructions
};

/// Indexed by the number of probes minus 1.
extern const std::array<PatternRow, kMaxLineProbes> kPatternRows;

/// What PointFilter holds. Fields were checked against the size of the block when it was opened, so
/// that probes check nothing. 16 bytes: engines hold one for each open file or partition.
struct BloomState {
  const uint8_t* data;     // the first line; any alignment
  uint32_t num_lines;      // >= 1
  uint16_t num_probes;     // 1 .. 16
  uint16_t pattern_bytes;  // offset in kPatternRows of the row of num_probes

  BLOCKSIEVE_INLINE const PatternRow& pattern() const noexcept {
    return *reinterpret_cast<const PatternRow*>(
        reinterpret_cast<const uint8_t*>(kPatternRows.data()) + pattern_bytes);
  }
};
static_assert(sizeof(BloomState) == 16);

/// REQUIRES: 1 <= num_lines < 2^32, 1 <= num_probes <= kMaxLineProbes
inline BloomState MakeBloomState(const uint8_t* data, uint64_t num_lines,
                                 uint32_t num_probes) noexcept {
  return {data, static_cast<uint32_t>(num_lines), static_cast<uint16_t>(num_probes),
          static_cast<uint16_t>((num_probes - 1) * sizeof(PatternRow))};
}

BLOCKSIEVE_INLINE const uint8_t* LineAt(const BloomState& view, uint64_t hash) noexcept {
  return view.data + kLineBytes * LineOf(hash, view.num_lines);
}

/// Filters up to this size fit the second-level cache and are not prefetched: probes of given
/// hashes are then a tenth faster, and fills a fifth.
inline constexpr uint64_t kNearBytes = 512 << 10;

BLOCKSIEVE_INLINE bool AreLinesNear(uint64_t num_lines) noexcept {
  return num_lines * kLineBytes <= kNearBytes;
}

/// @{
/// For kernels that probe one hash at a time (probe_loops.h).
BLOCKSIEVE_INLINE void Fetch(const BloomState& view, uint64_t hash) noexcept {
  __builtin_prefetch(LineAt(view, hash));
}
BLOCKSIEVE_INLINE bool IsNear(const BloomState& view) noexcept {
  return AreLinesNear(view.num_lines);
}
/// @}

/// Entry points for a number of probes. Kernels have separate ones for up to eight positions, with
/// fewer branches and registers.
/// REQUIRES: `kernel` is available, 1 <= num_probes <= kMaxLineProbes.
const ProbeOps& BlockedBloomOps(Kernel kernel, uint32_t num_probes) noexcept;

extern const ProbeOps kBlockedBloomScalar;
extern const ProbeOps kBlockedBloomAvx2By8, kBlockedBloomAvx2By16;
extern const ProbeOps kBlockedBloomAvx512By8, kBlockedBloomAvx512By16;
extern const ProbeOps kBlockedBloomNeon;

/// Sets the bits of a run of hashes in `num_lines` lines.
using FillFunction = void (*)(std::span<const uint64_t> hashes, uint64_t num_lines, uint8_t* lines);

/// The fill function of a kernel. All kernels produce the same lines.
/// REQUIRES: 1 <= num_probes <= kMaxLineProbes.
FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept;

/// Fill functions, indexed by the number of probes minus 1. There are none for AVX2: a line takes
/// two registers, which is no faster than scalar code.
using FillFunctions = std::array<FillFunction, kMaxLineProbes>;
extern const FillFunctions kBlockedBloomFillScalar;
extern const FillFunctions kBlockedBloomFillAvx512;

/// Number of lines prefetched before the first is written. Without prefetching, filling a filter
/// larger than the last-level cache takes three times as long.
inline constexpr size_t kFillBatch = 32;

/// Calls `set_bits(line, pattern)` for every hash. Inlined, to be compiled for its caller's target.
template <class SetBits>
BLOCKSIEVE_INLINE void ForEachLine(std::span<const uint64_t> hashes, uint64_t num_lines,
                                   uint8_t* lines, SetBits set_bits) noexcept {
  const auto line_of = [&](uint64_t hash) { return lines + kLineBytes * LineOf(hash, num_lines); };
  if (AreLinesNear(num_lines)) {
    for (const uint64_t hash : hashes) set_bits(line_of(hash), static_cast<uint32_t>(hash));
    return;
  }
  std::array<uint8_t*, kFillBatch> batch;
  while (!hashes.empty()) {
    const size_t count = hashes.size() < kFillBatch ? hashes.size() : kFillBatch;
    for (size_t i = 0; i < count; ++i) {
      batch[i] = line_of(hashes[i]);
      __builtin_prefetch(batch[i], 1);
    }
    for (size_t i = 0; i < count; ++i) set_bits(batch[i], static_cast<uint32_t>(hashes[i]));
    hashes = hashes.subspan(count);
  }
}

/// Fill functions of a kernel; `fill_of.operator()<num_probes>()` returns one. With a constant
/// number of probes, the compiler unrolls the pattern.
template <class FillOf>
constexpr FillFunctions FillTable(FillOf fill_of) {
  return [&]<uint32_t... j>(std::integer_sequence<uint32_t, j...>) {
    return FillFunctions{fill_of.template operator()<j + 1>()...};
  }
  (std::make_integer_sequence<uint32_t, kMaxLineProbes>());
}

// False-positive rates of blocked Bloom filters besides BlockedBloomFpr: exact rates for any number
// of keys, and the rule that makes the rows of the lookup table from them.

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
