#include "lib/ribbon_probe.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/staged_probe_loops.h"

#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace blocksieve::internal {
namespace {

// For filters of up to 4 * kQuads columns.
template <uint32_t kQuads, bool kOneChunk>
struct Avx2Ribbon {
  using Window = RibbonWindow;

  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE void PrefetchDirectory(const FilterView& view,
                                                                  uint64_t hash) noexcept {
    PrefetchRibbonDirectory(view, hash);
  }
  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE Window Locate(const FilterView& view,
                                                         uint64_t hash) noexcept {
    return LocateRibbon<kOneChunk>(view, hash);
  }
  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE void Prefetch(const Window& window) noexcept {
    PrefetchRibbonWindow(window);
  }

  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE bool Probe(const FilterView& view,
                                                      const Window& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const __m256i first = _mm256_set1_epi64x(static_cast<int64_t>(FirstCoefficients(window)));
    const __m256i second = _mm256_set1_epi64x(static_cast<int64_t>(SecondCoefficients(window)));
    uint32_t parities = 0;
#pragma GCC unroll 4
    for (uint32_t quad = 0; quad < kQuads; quad += 2) {
      parities |= Parities(window, first, second, quad) << (4 * quad);
    }
    return _bzhi_u32(parities ^ static_cast<uint32_t>(window.hash),
                     static_cast<uint32_t>(window.columns)) == 0;
  }

  // Of the eight columns from number 4 * quad on. What is read beyond a segment's end is masked by
  // the caller.
  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE uint32_t Parities(const Window& window, __m256i first,
                                                             __m256i second,
                                                             uint32_t quad) noexcept {
    const uint8_t* at = window.segment + 32 * quad;
    const __m256i low = Bits(at, 8 * window.columns, first, second);
    const __m256i high = quad + 1 < kQuads ? Bits(at + 32, 8 * window.columns, first, second)
                                           : _mm256_setzero_si256();
    // Fold words to 32 bits, low columns and high ones side by side, then to 4.
    const __m256 even =
        _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
    const __m256 odd = _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0xDD);
    __m256i folded = _mm256_xor_si256(_mm256_castps_si256(even), _mm256_castps_si256(odd));
    folded = _mm256_permute4x64_epi64(folded, 0xD8);
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 16));
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 8));
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 4));
    // The parity of each nibble, from a table, in the sign of the lane.
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0,  //
                                           0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0);
    const __m256i nibbles = _mm256_and_si256(folded, _mm256_set1_epi32(15));
    const __m256i signs = _mm256_slli_epi32(_mm256_shuffle_epi8(table, nibbles), 31);
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(signs)));
  }

  BLOCKSIEVE_AVX2 static BLOCKSIEVE_INLINE __m256i Bits(const uint8_t* at, uint64_t next,
                                                        __m256i first, __m256i second) noexcept {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + next));
    return _mm256_xor_si256(_mm256_and_si256(a, first), _mm256_and_si256(b, second));
  }
};

using Avx2By8 = Avx2Ribbon<2, false>;
using Avx2By8OneChunk = Avx2Ribbon<2, true>;
using Avx2By16 = Avx2Ribbon<4, false>;
using Avx2By16OneChunk = Avx2Ribbon<4, true>;
using Avx2By28 = Avx2Ribbon<7, false>;
using Avx2By28OneChunk = Avx2Ribbon<7, true>;

}  // namespace

BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By8, Avx2By8, BLOCKSIEVE_AVX2)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By8OneChunk, Avx2By8OneChunk, BLOCKSIEVE_AVX2)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By16, Avx2By16, BLOCKSIEVE_AVX2)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By16OneChunk, Avx2By16OneChunk, BLOCKSIEVE_AVX2)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By28, Avx2By28, BLOCKSIEVE_AVX2)
BLOCKSIEVE_STAGED_PROBE_OPS(kRibbonAvx2By28OneChunk, Avx2By28OneChunk, BLOCKSIEVE_AVX2)

}  // namespace blocksieve::internal

#endif  // __x86_64__
