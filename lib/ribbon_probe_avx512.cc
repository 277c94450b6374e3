#include "lib/ribbon_probe.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/staged_probe_loops.h"

#define BLOCKSIEVE_AVX512 \
  __attribute__((         \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx512vpopcntdq,bmi,bmi2,popcnt")))

namespace blocksieve::internal {
namespace {

// For filters of up to 8 * kGroups columns.
template <uint32_t kGroups, bool kOneChunk>
struct Avx512Ribbon {
  using Window = RibbonWindow;

  BLOCKSIEVE_AVX512 static BLOCKSIEVE_INLINE void PrefetchDirectory(const FilterView& view,
                                                                    uint64_t hash) noexcept {
    PrefetchRibbonDirectory(view, hash);
  }
  BLOCKSIEVE_AVX512 static BLOCKSIEVE_INLINE Window Locate(const FilterView& view,
                                                           uint64_t hash) noexcept {
    return LocateRibbon<kOneChunk>(view, hash);
  }
  BLOCKSIEVE_AVX512 static BLOCKSIEVE_INLINE void Prefetch(const Window& window) noexcept {
    PrefetchRibbonWindow(window);
  }

  BLOCKSIEVE_AVX512 static BLOCKSIEVE_INLINE bool Probe(const FilterView& view,
                                                        const Window& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const __m512i row = _mm512_set1_epi64(static_cast<int64_t>(window.coefficients));
    const __m512i shift = _mm512_set1_epi64(static_cast<int64_t>(window.start));
    const uint32_t in_use = _bzhi_u32(~uint32_t{0}, static_cast<uint32_t>(window.columns));
    uint32_t parities = 0;
#pragma GCC unroll 4
    for (uint32_t group = 0; group < kGroups; ++group) {
      parities |= Parities(window, row, shift, in_use >> (8 * group), group) << (8 * group);
    }
    return _bzhi_u32(parities ^ static_cast<uint32_t>(window.hash),
                     static_cast<uint32_t>(window.columns)) == 0;
  }

  // Eight columns, one per lane. The double shift brings the window's slots together. Masked loads
  // read no column that is not there.
  BLOCKSIEVE_AVX512 static BLOCKSIEVE_INLINE uint32_t Parities(const Window& window, __m512i row,
                                                               __m512i shift, uint32_t in_use,
                                                               uint32_t group) noexcept {
    const auto lanes = static_cast<__mmask8>(in_use);
    const uint8_t* at = window.segment + 64 * group;
    const __m512i slots =
        _mm512_shrdv_epi64(_mm512_maskz_loadu_epi64(lanes, at),
                           _mm512_maskz_loadu_epi64(lanes, at + 8 * window.columns), shift);
    const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(slots, row));
    // The lowest bit of the count, in the sign of the lane.
    return _mm512_movepi64_mask(_mm512_slli_epi64(ones, 63));
  }
};

using Avx512By8 = Avx512Ribbon<1, false>;
using Avx512By8OneChunk = Avx512Ribbon<1, true>;
using Avx512By16 = Avx512Ribbon<2, false>;
using Avx512By16OneChunk = Avx512Ribbon<2, true>;
using Avx512By32 = Avx512Ribbon<4, false>;
using Avx512By32OneChunk = Avx512Ribbon<4, true>;

}  // namespace

BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By8, Avx512By8, BLOCKSIEVE_AVX512)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By8OneChunk, Avx512By8OneChunk, BLOCKSIEVE_AVX512)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By16, Avx512By16, BLOCKSIEVE_AVX512)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By16OneChunk, Avx512By16OneChunk, BLOCKSIEVE_AVX512)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By32, Avx512By32, BLOCKSIEVE_AVX512)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx512By32OneChunk, Avx512By32OneChunk, BLOCKSIEVE_AVX512)

}  // namespace blocksieve::internal

#endif  // __x86_64__
