#include "lib/ribbon_probe.h"
#include "lib/staged_probe_loops.h"

namespace blocksieve::internal {

namespace {

BLOCKSIEVE_INLINE bool ProbeWords(const FilterView& view, const RibbonWindow& window) noexcept {
  // The words of the last segment may be shorter, and there may be none behind it. What is loaded
  // beyond the end of a word does not count: no coefficient is there.
  const RibbonView& ribbon = view.ribbon;
  const uint64_t segment = window.start / kRibbonSegment;
  const uint64_t first_bytes = std::min<uint64_t>(8, ribbon.num_octets - segment * 8);
  const uint64_t octets_behind = ribbon.num_octets - segment * 8 - first_bytes;
  const uint64_t second_bytes = std::min<uint64_t>(8, octets_behind);
  const uint64_t slots_left = ribbon.num_octets * kRibbonOctet - window.start;
  const uint64_t exist = slots_left < 64 ? (uint64_t{1} << slots_left) - 1 : ~uint64_t{0};
  RibbonWindow within = window;
  within.coefficients &= exist;
  const uint64_t first = FirstCoefficients(within);
  const uint64_t second = SecondCoefficients(within);
  const uint8_t* a = window.segment;
  const uint8_t* b = second_bytes > 0 ? a + 8 * window.columns : a;
  uint32_t parities = 0;
  for (uint32_t j = 0; j < window.columns; ++j) {
    const uint64_t bits = (LoadLittleEndian<uint64_t>(a + j * first_bytes) & first) ^
                          (LoadLittleEndian<uint64_t>(b + j * second_bytes) & second);
    parities |= static_cast<uint32_t>(__builtin_parityll(bits)) << j;
  }
  const uint32_t in_use = (uint32_t{1} << window.columns) - 1;
  return ((parities ^ static_cast<uint32_t>(window.hash)) & in_use) == 0;
}

/// The parities of four words in the low four bits. Words are folded until all four fit in one:
/// half the instructions of asking for each.
BLOCKSIEVE_INLINE uint64_t FourParities(uint64_t w0, uint64_t w1, uint64_t w2,
                                        uint64_t w3) noexcept {
  constexpr uint64_t kHalf = 0x00000000ffffffffu;
  constexpr uint64_t kQuarters = 0x0000ffff0000ffffu;
  const uint64_t even = ((w0 ^ (w0 >> 32)) & kHalf) | ((w2 ^ (w2 << 32)) & ~kHalf);
  const uint64_t odd = ((w1 ^ (w1 >> 32)) & kHalf) | ((w3 ^ (w3 << 32)) & ~kHalf);
  uint64_t all = ((even ^ (even >> 16)) & kQuarters) | ((odd ^ (odd << 16)) & ~kQuarters);
  all ^= all >> 8;
  all ^= all >> 4;
  all ^= all >> 2;
  all ^= all >> 1;
  // Bits 0, 16, 32 and 48 become bits 60 ... 63.
  return (all & 0x0001000100010001u) * 0x1000200040008000u >> 60;
}

/// The parities of columns 4 * quad ... 4 * quad + 3, not all of which need exist.
BLOCKSIEVE_INLINE uint64_t QuadParities(const RibbonWindow& window, uint64_t low, uint64_t high,
                                        uint64_t quad) noexcept {
  const uint8_t* a = window.segment + 32 * quad;
  const uint8_t* b = a + 8 * window.columns;
  const auto bits = [&](size_t j) __attribute__((always_inline)) {
    return (LoadLittleEndian<uint64_t>(a + 8 * j) & low) ^
           (LoadLittleEndian<uint64_t>(b + 8 * j) & high);
  };
  return FourParities(bits(0), bits(1), bits(2), bits(3));
}

template <bool kOneChunk, bool kHasOpenChunks = false>
struct ScalarRibbon {
  using Window = RibbonWindow;

  static BLOCKSIEVE_INLINE void PrefetchDirectory(const FilterView& view, uint64_t hash) noexcept {
    PrefetchRibbonDirectory(view, hash);
  }
  static BLOCKSIEVE_INLINE Window Locate(const FilterView& view, uint64_t hash) noexcept {
    return LocateRibbon<kOneChunk>(view, hash);
  }
  static BLOCKSIEVE_INLINE void Prefetch(const Window& window) noexcept {
    PrefetchRibbonWindow(window);
  }
  static BLOCKSIEVE_INLINE bool Probe(const FilterView& view, const Window& window) noexcept {
    if constexpr (kHasOpenChunks) {
      if (ReadRibbonChunk<kOneChunk>(view.ribbon, window.hash).num_octets == 0) return true;
    }
    if (!IsFastWindow(view, window)) return ProbeRibbonAnywhere(view, window.hash);
    // Four columns without a branch, then the rest only for the sixteenth of absent keys that
    // passed: without an instruction to count bits, columns are what costs.
    const uint64_t low = FirstCoefficients(window);
    const uint64_t high = SecondCoefficients(window);
    const uint64_t in_use = (uint64_t{1} << window.columns) - 1;
    uint64_t wrong = (QuadParities(window, low, high, 0) ^ window.hash) & in_use & 15;
    if (wrong != 0) return false;
    for (uint64_t quad = 1; quad < view.ribbon.column_quads; ++quad) {
      const uint64_t parities = QuadParities(window, low, high, quad) << (4 * quad);
      wrong |= (parities ^ window.hash) & in_use & (uint64_t{15} << (4 * quad));
    }
    return wrong == 0;
  }
};

using Scalar = ScalarRibbon<false>;
using ScalarOneChunk = ScalarRibbon<true>;
using ScalarWithOpenChunks = ScalarRibbon<false, true>;

}  // namespace

__attribute__((noinline)) bool ProbeRibbonAnywhere(const FilterView& view, uint64_t hash) noexcept {
  return view.ribbon.num_chunks == 1 ? ProbeWords(view, LocateRibbonAnywhere<true>(view, hash))
                                     : ProbeWords(view, LocateRibbonAnywhere<false>(view, hash));
}

BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonScalar, Scalar, )
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonScalarOneChunk, ScalarOneChunk, )
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonScalarWithOpenChunks, ScalarWithOpenChunks, )

}  // namespace blocksieve::internal
