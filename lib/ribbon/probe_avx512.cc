#include "lib/ribbon/probe.h"

#if defined(__x86_64__)

#include "lib/ribbon/batch_avx512.h"
#include "lib/ribbon/staged_probe_loops.h"

namespace blocksieve::internal {
namespace {

// For filters of up to 4 * kQuads columns.
template <uint32_t kQuads>
struct Avx512Ribbon {
  BLOCKSIEVE_AVX512_INLINE bool Probe(const FilterView& view, const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const uint32_t parities =
        RibbonParities<kQuads>(window.segment, window.segment + window.stride, window.in_use,
                               window.coefficients, window.start);
    return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
  }

  template <RibbonDirectory kDirectory>
  BLOCKSIEVE_AVX512_INLINE void Batch(const FilterView& view, const uint64_t* hashes,
                                      size_t num_hashes, bool* may_match) noexcept {
    ProbeRibbonBatch<kQuads, kDirectory>(view, hashes, num_hashes, may_match);
  }
};

}  // namespace

BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By8, Avx512Ribbon<2>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By12, Avx512Ribbon<3>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By16, Avx512Ribbon<4>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By28, Avx512Ribbon<7>, BLOCKSIEVE_AVX512)

}  // namespace blocksieve::internal

#endif  // __x86_64__
