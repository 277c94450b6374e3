// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/solver.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCKSIEVE_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

namespace blocksieve::internal {
namespace {

/// Eight columns at a time, one per lane, in `kBatches` vectors whose dependency chains overlap.
template <int kBatches>
BLOCKSIEVE_AVX512 void BackSubstituteLanes(const uint64_t* pivots, uint32_t num_columns,
                                           const uint64_t* next, uint64_t* words) noexcept {
  const __m512i one = _mm512_set1_epi64(1);
  __mmask8 present[kBatches];
  __m512i window[kBatches];
  __m512i in[kBatches];
#pragma GCC unroll 4
  for (int i = 0; i < kBatches; ++i) {
    const uint32_t lanes = num_columns - static_cast<uint32_t>(8 * i);
    present[i] =
        lanes >= 8 ? static_cast<__mmask8>(0xff) : static_cast<__mmask8>((1u << lanes) - 1);
    window[i] = _mm512_maskz_loadu_epi64(present[i], next + 8 * i);
    in[i] = _mm512_maskz_loadu_epi64(present[i], words + 8 * i);
  }
  for (uint32_t slot = kRibbonWidth; slot-- > 0;) {
    const __m512i row = _mm512_set1_epi64(static_cast<int64_t>(pivots[slot]));
    const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(slot));
#pragma GCC unroll 4
    for (int i = 0; i < kBatches; ++i) {
      const __m512i shifted = _mm512_slli_epi64(window[i], 1);
      const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(shifted, row));
      const __m512i bit = _mm512_xor_si512(ones, _mm512_srl_epi64(in[i], shift));
      window[i] = _mm512_ternarylogic_epi64(shifted, bit, one, 0xF8);  // shifted | (bit & one)
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kBatches; ++i) {
    _mm512_mask_storeu_epi64(words + 8 * i, present[i], window[i]);
  }
}

}  // namespace

void BackSubstituteAvx512(const uint64_t* pivots, uint32_t fingerprint_columns,
                          const uint64_t* next, uint64_t* words) {
  switch (RibbonPlaneGroups(fingerprint_columns)) {
    case 1:
      return BackSubstituteLanes<1>(pivots, fingerprint_columns, next, words);
    case 2:
      return BackSubstituteLanes<2>(pivots, fingerprint_columns, next, words);
    case 3:
      return BackSubstituteLanes<3>(pivots, fingerprint_columns, next, words);
    default:
      return BackSubstituteLanes<4>(pivots, fingerprint_columns, next, words);
  }
}

}  // namespace blocksieve::internal

#endif  // __x86_64__
