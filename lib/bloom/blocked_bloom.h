#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "blocksieve/bytes.h"
#include "blocksieve/internal/filter_view.h"
#include "blocksieve/kernels.h"

// Blocked Bloom filter: a key sets `num_probes` bits, anywhere in one 64-byte line. A probe touches
// one cache line, and SIMD tests all bits at once; layouts that confine each bit to a lane are no
// faster and cost false positives.
//
// The line comes from the high bits of the hash, the pattern from its low 32 bits. Sharing bits
// between them multiplies the false-positive rate several times over.

namespace blocksieve::internal {

inline constexpr size_t kLineBytes = 64;
inline constexpr uint32_t kMaxBloomProbes = 16;  // what one 512-bit register of positions holds

/// Position j of a pattern is the top nine bits of (low 32 bits of the hash) * kPatternFactors[j].
/// The factors are the powers of the golden ratio, from the first, as a 32-bit fraction.
inline constexpr std::array<uint32_t, kMaxBloomProbes> kPatternFactors = [] {
  std::array<uint32_t, kMaxBloomProbes> factors{};
  uint32_t power = 1;
  for (uint32_t& factor : factors) factor = power *= 0x9E3779B9u;
  return factors;
}();

/// Maps the hash to [0, num_lines) by its high bits.
inline __attribute__((always_inline)) uint64_t LineOf(uint64_t hash, uint64_t num_lines) noexcept {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_lines) >> 64);
}

inline __attribute__((always_inline)) const uint8_t* LineAt(const FilterView& view,
                                                            uint64_t hash) noexcept {
  return view.data + kLineBytes * LineOf(hash, view.blocked_bloom.num_lines);
}

/// Sets the bits of a run of hashes in `num_lines` lines, which are zero before the first run.
using FillFunction = void (*)(std::span<const uint64_t> hashes, uint64_t num_lines, uint8_t* lines);

/// The same lines come out on every kernel. REQUIRES: 1 <= num_probes <= kMaxBloomProbes.
FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept;

extern const ProbeOps kBlockedBloomScalar;
extern const ProbeOps kBlockedBloomAvx2;
extern const ProbeOps kBlockedBloomAvx512;
extern const ProbeOps kBlockedBloomNeon;

}  // namespace blocksieve::internal
