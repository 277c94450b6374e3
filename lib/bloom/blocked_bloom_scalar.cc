// SPDX-License-Identifier: Apache-2.0
#include "lib/base/coding.h"
#include "lib/block/probe_loops.h"
#include "lib/bloom/blocked_bloom.h"

namespace blocksieve::internal {
namespace {

// The bit at position j, shifted to the lowest place.
BLOCKSIEVE_INLINE uint64_t Bit(const uint8_t* line, uint32_t pattern, uint32_t j) noexcept {
  const uint32_t product = pattern * kPatternFactors[j];  // 9 bits of position above 23 others
  return LoadLittleEndian<uint64_t>(line + 8 * uint64_t{product >> 29}) >> (product >> 23) % 64;
}

// Four bits without a branch, then the rest, only for the few percent of absent keys that pass.
// Twice as fast as returning at the first zero bit, whose position is unpredictable.
BLOCKSIEVE_INLINE bool Probe(const BloomState& view, uint64_t hash) noexcept {
  const uint8_t* line = LineAt(view, hash);
  const uint32_t num_probes = view.num_probes;
  const uint32_t pattern = static_cast<uint32_t>(hash);
  uint64_t bits = Bit(line, pattern, 0);
  if (num_probes >= 4) {
    bits &= Bit(line, pattern, 1) & Bit(line, pattern, 2) & Bit(line, pattern, 3);
  } else {
    for (uint32_t j = 1; j < num_probes; ++j) bits &= Bit(line, pattern, j);
  }
  if ((bits & 1) == 0) return false;
  for (uint32_t j = 4; j < num_probes; ++j) bits &= Bit(line, pattern, j);
  return (bits & 1) != 0;
}

template <uint32_t num_probes>
void Fill(std::span<const uint64_t> hashes, uint64_t num_lines, uint8_t* lines) {
  ForEachLine(hashes, num_lines, lines, [](uint8_t* line, uint32_t pattern) {
#pragma GCC unroll 16
    for (uint32_t j = 0; j < num_probes; ++j) {
      const uint32_t position = (pattern * kPatternFactors[j]) >> 23;
      uint8_t* word = line + position / 64 * 8;
      StoreLittleEndian(word, LoadLittleEndian<uint64_t>(word) | uint64_t{1} << (position % 64));
    }
  });
}

}  // namespace

const FillFunctions kBlockedBloomFillScalar =
    FillTable([]<uint32_t num_probes>() { return &Fill<num_probes>; });
BLOCKSIEVE_PROBE_OPS(kBlockedBloomScalar, BloomState, Probe, )

}  // namespace blocksieve::internal
