#include "lib/bloom/blocked_bloom_fill.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define BLOCKSIEVE_AVX512 __attribute__((target("avx512f,bmi,bmi2")))

namespace blocksieve::internal {
namespace {

template <uint32_t num_probes>
struct Avx512Fill {
  // For each position, all eight words of the line at once: word i gets 1 << (position - 64 i),
  // which the shift instruction makes zero in all words but the right one. Computing all positions
  // in one vector and spreading them from there lost: the shuffles wait for the same units as the
  // shifts.
  BLOCKSIEVE_AVX512 static void Fill(std::span<const uint64_t> hashes, uint64_t num_lines,
                                     uint8_t* lines) {
    const __m512i first_bits = _mm512_setr_epi64(0, 64, 128, 192, 256, 320, 384, 448);
    const __m512i one = _mm512_set1_epi64(1);
    ForEachLine(hashes, num_lines, lines, [&](uint8_t* at, uint32_t pattern) BLOCKSIEVE_AVX512 {
      __m512i bits = _mm512_setzero_si512();
#pragma GCC unroll 16
      for (uint32_t j = 0; j < num_probes; ++j) {
        const __m512i position = _mm512_set1_epi64((pattern * kPatternFactors[j]) >> 23);
        bits =
            _mm512_or_si512(bits, _mm512_sllv_epi64(one, _mm512_sub_epi64(position, first_bits)));
      }
      _mm512_storeu_si512(at, _mm512_or_si512(bits, _mm512_loadu_si512(at)));
    });
  }
};

}  // namespace

const std::array<FillFunction, kMaxBloomProbes> kBlockedBloomFillAvx512 = FillTable<Avx512Fill>();

}  // namespace blocksieve::internal

#endif  // __x86_64__
