// SPDX-License-Identifier: Apache-2.0
#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"

#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#define BLOCKSIEVE_AVX2_INLINE BLOCKSIEVE_AVX2 static inline __attribute__((always_inline))

namespace blocksieve::internal {
namespace {

BLOCKSIEVE_AVX2_INLINE __m256i Eight(const uint32_t* words) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

BLOCKSIEVE_AVX2_INLINE bool AllSet(__m256i low, __m256i high, __m256i patterns,
                                   const uint32_t* factors, __m256i ones) noexcept {
  const __m256i products = _mm256_mullo_epi32(patterns, Eight(factors));
  // Look up the word in both halves of the line, and select one by the position's top bit, which
  // is the sign of the product.
  const __m256i index = _mm256_srli_epi32(products, 28);
  const __m256i words = _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
                       _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)),
                       _mm256_castsi256_ps(products)));
  // The position's low five bits, by two shifts: a mask takes three instructions to make.
  const __m256i bits =
      _mm256_srlv_epi32(words, _mm256_srli_epi32(_mm256_slli_epi32(products, 4), 27));
  return _mm256_testc_si256(bits, ones) != 0;
}

/// Tests up to `num_positions` positions, eight at a time.
template <uint32_t num_positions>
BLOCKSIEVE_AVX2_INLINE bool Probe(const BloomState& view, uint64_t hash) noexcept {
  const auto* line = reinterpret_cast<const __m256i*>(LineAt(view, hash));
  const __m256i low = _mm256_loadu_si256(line);
  const __m256i high = _mm256_loadu_si256(line + 1);
  const __m256i patterns = _mm256_set1_epi32(static_cast<int>(hash));
  const PatternRow& row = view.pattern();
  const __m256i ones = Eight(row.ones);
  if constexpr (num_positions == 8) return AllSet(low, high, patterns, row.factors, ones);
  return AllSet(low, high, patterns, row.factors, ones) &&
         AllSet(low, high, patterns, row.factors + 8, ones);
}

}  // namespace

BLOCKSIEVE_PROBE_OPS(kBlockedBloomAvx2By8, BloomState, Probe<8>, BLOCKSIEVE_AVX2)
BLOCKSIEVE_PROBE_OPS(kBlockedBloomAvx2By16, BloomState, Probe<16>, BLOCKSIEVE_AVX2)

}  // namespace blocksieve::internal

#endif  // __x86_64__
