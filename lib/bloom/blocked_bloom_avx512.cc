#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"

#define BLOCKSIEVE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))

namespace blocksieve::internal {
namespace {

struct Avx512BlockedBloom {
  BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) bool Probe(
      const FilterView& view, uint64_t hash) noexcept {
    const uint8_t* line = LineAt(view, hash);
    const auto pattern = static_cast<int>(hash);
    return view.blocked_bloom.num_probes <= 8
               ? ProbeEight(line, pattern, static_cast<__mmask8>(view.blocked_bloom.probe_mask))
               : ProbeSixteen(line, pattern, view.blocked_bloom.probe_mask);
  }

 private:
  // For all positions at once: pick the word of the line by the position's high four bits, rotate
  // the bit in question to the lowest place, and see whether it is zero in any lane in use.
  BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) bool ProbeSixteen(
      const uint8_t* line, int pattern, __mmask16 in_use) noexcept {
    const __m512i products =
        _mm512_mullo_epi32(_mm512_set1_epi32(pattern), _mm512_loadu_si512(kPatternFactors.data()));
    const __m512i words =
        _mm512_permutexvar_epi32(_mm512_srli_epi32(products, 28), _mm512_loadu_si512(line));
    const __m512i bits = _mm512_rorv_epi32(words, _mm512_srli_epi32(products, 23));
    return _mm512_mask_testn_epi32_mask(in_use, bits, _mm512_set1_epi32(1)) == 0;
  }

  // The same in registers of half the size, which halves the work where a 512-bit operation is done
  // in two steps (Zen 4).
  BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) bool ProbeEight(
      const uint8_t* line, int pattern, __mmask8 in_use) noexcept {
    const auto* halves = reinterpret_cast<const __m256i*>(line);
    const __m256i products = _mm256_mullo_epi32(
        _mm256_set1_epi32(pattern),
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPatternFactors.data())));
    const __m256i words =
        _mm256_permutex2var_epi32(_mm256_loadu_si256(halves), _mm256_srli_epi32(products, 28),
                                  _mm256_loadu_si256(halves + 1));
    const __m256i bits = _mm256_rorv_epi32(words, _mm256_srli_epi32(products, 23));
    return _mm256_mask_testn_epi32_mask(in_use, bits, _mm256_set1_epi32(1)) == 0;
  }
};

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

const FillFunctions kBlockedBloomFillAvx512 = FillTable<Avx512Fill>();
BLOCKSIEVE_PROBE_OPS(kBlockedBloomAvx512, Avx512BlockedBloom, BLOCKSIEVE_AVX512)

}  // namespace blocksieve::internal

#endif  // __x86_64__
