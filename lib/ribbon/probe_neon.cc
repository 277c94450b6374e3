// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/probe.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "lib/ribbon/staged_probe_loops.h"

namespace blocksieve::internal {
namespace {

struct NeonRibbon {
  BLOCKSIEVE_RIBBON_BATCH()
  BLOCKSIEVE_RIBBON_KEY_BATCH()

  // Eight columns at a time. The bytes of coefficients are in the order of the bits, as in the
  // payload.
  static BLOCKSIEVE_INLINE bool Probe(const RibbonState& view,
                                      const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    uint8_t bytes[16];
    StoreLittleEndian(bytes, FirstCoefficients(window));
    StoreLittleEndian(bytes + 8, SecondCoefficients(window));
    const uint8x16_t both = vld1q_u8(bytes);
    const uint8x16_t first = vcombine_u8(vget_low_u8(both), vget_low_u8(both));
    const uint8x16_t second = vcombine_u8(vget_high_u8(both), vget_high_u8(both));
    uint32_t parities = 0;
    for (uint32_t j = 0; window.in_use >> j != 0; j += 4) {
      // Count the set bits of each byte, and add pairwise to one lane per column.
      const uint8x16_t ones_low = vcntq_u8(Bits(window, first, second, j));
      const uint8x16_t ones_high = vcntq_u8(Bits(window, first, second, j + 2));
      const uint8x16_t by_two = vpaddq_u8(ones_low, ones_high);
      const uint8x16_t by_four = vpaddq_u8(by_two, by_two);
      const uint8x16_t by_eight = vpaddq_u8(by_four, by_four);
      const uint32_t counts = vgetq_lane_u32(vreinterpretq_u32_u8(by_eight), 0);
      // Lane k is byte k, in either byte order: gather the four lowest bits.
      parities |= ((counts & 0x01010101u) * 0x10204080u >> 28 & 15) << j;
    }
    return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
  }

  // The window's bits of columns j and j + 1.
  static BLOCKSIEVE_INLINE uint8x16_t Bits(const RibbonWindow& window, uint8x16_t first,
                                           uint8x16_t second, uint32_t j) noexcept {
    const uint8_t* at = window.segment + 8 * j;
    return veorq_u8(vandq_u8(vld1q_u8(at), first), vandq_u8(vld1q_u8(at + window.stride), second));
  }
};

}  // namespace

BLOCKSIEVE_RIBBON_OPS(kRibbonNeon, NeonRibbon, )

}  // namespace blocksieve::internal

#endif  // __aarch64__
