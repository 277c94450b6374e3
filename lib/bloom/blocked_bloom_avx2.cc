#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"

#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2")))

namespace blocksieve::internal {
namespace {

// Eight positions of the pattern, from number `first` on.
template <uint32_t first>
BLOCKSIEVE_AVX2 static inline __attribute__((always_inline)) bool AllSet(
    __m256i low, __m256i high, uint32_t pattern, uint32_t num_probes) noexcept {
  const __m256i products = _mm256_mullo_epi32(
      _mm256_set1_epi32(static_cast<int>(pattern)),
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPatternFactors.data() + first)));
  // The word comes from both halves of the line; the position's top bit, which is the sign of the
  // product, tells which is meant.
  const __m256i index = _mm256_srli_epi32(products, 28);
  const __m256i words = _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index)),
                       _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index)),
                       _mm256_castsi256_ps(products)));
  const __m256i bits = _mm256_srlv_epi32(
      words, _mm256_and_si256(_mm256_srli_epi32(products, 23), _mm256_set1_epi32(31)));
  // One in each lane that is in use.
  const __m256i lanes = _mm256_setr_epi32(first, first + 1, first + 2, first + 3, first + 4,
                                          first + 5, first + 6, first + 7);
  const __m256i in_use = _mm256_srli_epi32(
      _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(num_probes)), lanes), 31);
  return _mm256_testc_si256(bits, in_use) != 0;
}

struct Avx2BlockedBloom {
  static inline __attribute__((always_inline)) void Fetch(const FilterView& view,
                                                          uint64_t hash) noexcept {
    FetchLine(view, hash);
  }
  static bool IsNear(const FilterView& view) noexcept {
    return AreLinesNear(view.blocked_bloom.num_lines);
  }

  BLOCKSIEVE_AVX2 static inline __attribute__((always_inline)) bool Probe(const FilterView& view,
                                                                          uint64_t hash) noexcept {
    const auto* line = reinterpret_cast<const __m256i*>(LineAt(view, hash));
    const __m256i low = _mm256_loadu_si256(line);
    const __m256i high = _mm256_loadu_si256(line + 1);
    const auto pattern = static_cast<uint32_t>(hash);
    const uint32_t num_probes = view.blocked_bloom.num_probes;
    // Asked first, or compilers branch on the answer, too.
    if (num_probes > 8) [[unlikely]]
      return AllSet<0>(low, high, pattern, num_probes) && AllSet<8>(low, high, pattern, num_probes);
    return AllSet<0>(low, high, pattern, num_probes);
  }
};

}  // namespace

BLOCKSIEVE_PROBE_OPS(kBlockedBloomAvx2, Avx2BlockedBloom, BLOCKSIEVE_AVX2)

}  // namespace blocksieve::internal

#endif  // __x86_64__
