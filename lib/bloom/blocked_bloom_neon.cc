// SPDX-License-Identifier: Apache-2.0
#include "lib/bloom/blocked_bloom.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "lib/block/probe_loops.h"

namespace blocksieve::internal {
namespace {

// Four positions at a time. The line is a table of 64 bytes for TBL: look up the byte of each
// position into the lowest byte of its lane, and test its bit. Bytes of a line are in the order
// of the bits, so the byte order of the machine does not matter.
BLOCKSIEVE_INLINE bool Probe(const BloomState& view, uint64_t hash) noexcept {
  const uint8x16x4_t line = vld1q_u8_x4(LineAt(view, hash));
  const uint32_t num_probes = view.num_probes;
  const uint32x4_t pattern = vdupq_n_u32(static_cast<uint32_t>(hash));
  const uint32_t lane_numbers[4] = {0, 1, 2, 3};
  const uint32x4_t lanes = vld1q_u32(lane_numbers);
  for (uint32_t j = 0; j < num_probes; j += 4) {
    const uint32x4_t positions =
        vshrq_n_u32(vmulq_u32(pattern, vld1q_u32(kPatternFactors.data() + j)), 23);
    // Indices of 64 and above yield zero, which clears the three upper bytes of each lane.
    const uint32x4_t indices = vorrq_u32(vshrq_n_u32(positions, 3), vdupq_n_u32(0xffffff00u));
    const uint32x4_t bytes = vreinterpretq_u32_u8(vqtbl4q_u8(line, vreinterpretq_u8_u32(indices)));
    const uint32x4_t masks =
        vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vandq_u32(positions, vdupq_n_u32(7))));
    const uint32x4_t in_use = vcltq_u32(lanes, vdupq_n_u32(num_probes - j));
    const uint32x4_t missing = vandq_u32(vceqzq_u32(vandq_u32(bytes, masks)), in_use);
    if (vmaxvq_u32(missing) != 0) return false;
  }
  return true;
}

}  // namespace

BLOCKSIEVE_PROBE_OPS(kBlockedBloomNeon, BloomState, Probe, )

}  // namespace blocksieve::internal

#endif  // __aarch64__
