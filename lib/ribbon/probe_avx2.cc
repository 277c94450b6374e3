#include "lib/ribbon/probe.h"

#if defined(__x86_64__)

#include "lib/ribbon/batch_avx2.h"
#include "lib/ribbon/staged_probe_loops.h"

namespace blocksieve::internal {
namespace {

// For filters of up to 4 * kQuads columns.
template <uint32_t kQuads>
struct Avx2Ribbon {
  BLOCKSIEVE_AVX2_INLINE bool Probe(const FilterView& view, const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const uint32_t parities =
        Parities(window.segment, window.segment + window.stride, Four(FirstCoefficients(window)),
                 Four(SecondCoefficients(window)));
    return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
  }

  template <RibbonDirectory kDirectory>
  BLOCKSIEVE_AVX2_INLINE void Batch(const FilterView& view, const uint64_t* hashes,
                                    size_t num_hashes, bool* may_match) noexcept {
    const RibbonView& ribbon = view.ribbon;
    if (ribbon.fast_segments == 0) [[unlikely]] {
      for (size_t i = 0; i < num_hashes; ++i) may_match[i] = ProbeRibbonAnywhere(view, hashes[i]);
      return;
    }
    RibbonWindowsAvx2 windows;
    const uint32_t fast = LocateBatch<kDirectory>(ribbon, hashes, num_hashes, &windows);
    for (size_t i = 0; i < num_hashes; ++i) {
      const uint32_t parities =
          Parities(reinterpret_cast<const uint8_t*>(windows.first[i]),
                   reinterpret_cast<const uint8_t*>(windows.second[i]),
                   Four(windows.first_coefficients[i]), Four(windows.second_coefficients[i]));
      may_match[i] = ((parities ^ windows.fingerprint[i]) & windows.in_use[i]) == 0;
    }
    const uint32_t valid = _bzhi_u32(~uint32_t{0}, static_cast<uint32_t>(num_hashes));
    for (uint32_t slow = ~fast & valid; slow != 0; slow &= slow - 1) [[unlikely]] {
        const auto i = static_cast<size_t>(_tzcnt_u32(slow));
        may_match[i] = ProbeRibbonAnywhere(view, hashes[i]);
      }
  }

 private:
  BLOCKSIEVE_AVX2_INLINE uint32_t Parities(const uint8_t* a, const uint8_t* b, __m256i first,
                                           __m256i second) noexcept {
    uint32_t parities = 0;
#pragma GCC unroll 4
    for (uint32_t quad = 0; quad < kQuads; quad += 2) {
      parities |= EightParities(a + 32 * quad, b + 32 * quad, quad + 1 < kQuads, first, second)
                  << (4 * quad);
    }
    return parities;
  }

  // Of eight columns, or four. What is read beyond a segment's end is masked by the caller.
  BLOCKSIEVE_AVX2_INLINE uint32_t EightParities(const uint8_t* a, const uint8_t* b, bool eight,
                                                __m256i first, __m256i second) noexcept {
    const __m256i low = Bits(a, b, first, second);
    const __m256i high = eight ? Bits(a + 32, b + 32, first, second) : _mm256_setzero_si256();
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

  BLOCKSIEVE_AVX2_INLINE __m256i Bits(const uint8_t* a, const uint8_t* b, __m256i first,
                                      __m256i second) noexcept {
    const __m256i in_first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i in_second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    return _mm256_xor_si256(_mm256_and_si256(in_first, first), _mm256_and_si256(in_second, second));
  }
};

}  // namespace

BLOCKSIEVE_RIBBON_OPS(kRibbonAvx2By8, Avx2Ribbon<2>, BLOCKSIEVE_AVX2)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx2By12, Avx2Ribbon<3>, BLOCKSIEVE_AVX2)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx2By16, Avx2Ribbon<4>, BLOCKSIEVE_AVX2)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx2By28, Avx2Ribbon<7>, BLOCKSIEVE_AVX2)

}  // namespace blocksieve::internal

#endif  // __x86_64__
