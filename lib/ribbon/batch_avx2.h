#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"
#include "lib/ribbon/probe.h"

// The first stage of batches of ribbon probes with AVX2: windows are found for four hashes at a
// time, one per lane. See ribbon_batch_avx512.h.

#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define BLOCKSIEVE_AVX2_INLINE BLOCKSIEVE_AVX2 static inline __attribute__((always_inline))

namespace blocksieve::internal {

/// Windows of up to kProbeBatch hashes, and what their parities should be.
struct RibbonWindowsAvx2 {
  alignas(32) uint64_t first[kProbeBatch];  // addresses of both segments
  alignas(32) uint64_t second[kProbeBatch];
  alignas(32) uint64_t first_coefficients[kProbeBatch];
  alignas(32) uint64_t second_coefficients[kProbeBatch];
  alignas(32) uint64_t fingerprint[kProbeBatch];
  alignas(32) uint64_t in_use[kProbeBatch];
};

BLOCKSIEVE_AVX2_INLINE __m256i Four(uint64_t x) noexcept {
  return _mm256_set1_epi64x(static_cast<int64_t>(x));
}

BLOCKSIEVE_AVX2_INLINE void StoreFour(uint64_t* to, __m256i lanes) noexcept {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), lanes);
}

/// Four windows from number `i` on. Returns which are fast; the others are made the first window of
/// the filter. As LocateRibbon, which has the comments.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_AVX2_INLINE uint32_t LocateFour(const RibbonView& ribbon, __m256i hash, size_t i,
                                           RibbonWindowsAvx2* windows) noexcept {
  const __m256i hash_high = _mm256_srli_epi64(hash, 32);
  const __m256i mixed = _mm256_add_epi64(
      _mm256_mul_epu32(hash, Four(kRibbonMixer)),
      _mm256_slli_epi64(_mm256_add_epi64(_mm256_mul_epu32(hash_high, Four(kRibbonMixer)),
                                         _mm256_mul_epu32(hash, Four(kRibbonMixer >> 32))),
                        32));
  __m256i first_octet, num_octets, multiplier;
  if constexpr (kDirectory == RibbonDirectory::kNone) {
    first_octet = _mm256_setzero_si256();
    num_octets = Four(ribbon.num_octets);
    multiplier = Four(ribbon.multiplier);
  } else {
    // Numbers of chunks are below 2^31: CheckRibbonShape.
    const __m256i num_chunks = Four(ribbon.num_chunks);
    const __m256i chunk = _mm256_srli_epi64(
        _mm256_add_epi64(_mm256_mul_epu32(hash_high, num_chunks),
                         _mm256_srli_epi64(_mm256_mul_epu32(hash, num_chunks), 32)),
        32);
    const __m256i entries = _mm256_cvtepu32_epi64(
        _mm256_i64gather_epi32(reinterpret_cast<const int*>(ribbon.directory), chunk, 2));
    const __m256i place = Four(kRibbonEntryMask);
    first_octet = _mm256_and_si256(entries, place);
    if constexpr (kDirectory == RibbonDirectory::kBased) {
      const __m256i base = _mm256_cvtepu32_epi64(_mm256_i64gather_epi32(
          reinterpret_cast<const int*>(ribbon.bases), _mm256_srli_epi64(chunk, 5), 4));
      first_octet =
          _mm256_add_epi64(base, _mm256_and_si256(_mm256_sub_epi64(entries, base), place));
    }
    num_octets = _mm256_and_si256(_mm256_sub_epi64(_mm256_srli_epi64(entries, 16), entries), place);
    multiplier = _mm256_and_si256(entries, Four(0xffff));
  }
  // Its low 32 bits are the high half of the 64-bit product.
  const __m256i turned =
      _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), multiplier),
                       _mm256_srli_epi64(_mm256_mul_epu32(mixed, multiplier), 32));
  const __m256i start =
      _mm256_add_epi64(_mm256_srli_epi64(_mm256_mul_epu32(turned, num_octets), 29),
                       _mm256_sub_epi64(_mm256_slli_epi64(first_octet, 3), Four(kRibbonFold)));
  // Below 2^58, so that comparing signed numbers will do.
  const __m256i segment = _mm256_srli_epi64(start, 6);
  const __m256i fast = _mm256_cmpgt_epi64(Four(ribbon.fast_segments), segment);
  const __m256i narrow = _mm256_or_si256(_mm256_cmpgt_epi64(Four(ribbon.narrow_segments), segment),
                                         _mm256_xor_si256(fast, Four(~uint64_t{0})));
  const __m256i stride = _mm256_blendv_epi8(Four(ribbon.stride[1]), Four(ribbon.stride[0]), narrow);
  const __m256i origin = _mm256_blendv_epi8(Four(ribbon.origin[1]), Four(ribbon.origin[0]), narrow);
  // Segments of a fast window are counted in 32 bits.
  const __m256i first =
      _mm256_add_epi64(origin, _mm256_and_si256(_mm256_mul_epu32(segment, stride), fast));
  const __m256i row = _mm256_or_si256(mixed, Four(1));
  const __m256i bits = _mm256_and_si256(start, Four(63));
  StoreFour(windows->first + i, first);
  StoreFour(windows->second + i, _mm256_add_epi64(first, stride));
  StoreFour(windows->first_coefficients + i, _mm256_sllv_epi64(row, bits));
  // Shifts by 64 give 0.
  StoreFour(windows->second_coefficients + i,
            _mm256_srlv_epi64(row, _mm256_sub_epi64(Four(64), bits)));
  StoreFour(windows->fingerprint + i, _mm256_srli_epi64(hash, 16));
  StoreFour(windows->in_use + i,
            _mm256_blendv_epi8(Four(ribbon.in_use[1]), Four(ribbon.in_use[0]), narrow));
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(fast)));
}

/// All windows of a batch; bit i of the result is set if window i is fast. REQUIRES: there are fast
/// segments.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_AVX2_INLINE uint32_t LocateBatch(const RibbonView& ribbon, const uint64_t* hashes,
                                            size_t num_hashes,
                                            RibbonWindowsAvx2* windows) noexcept {
  uint32_t fast = 0;
  size_t i = 0;
  for (; i + 4 <= num_hashes; i += 4) {
    const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(hashes + i));
    fast |= LocateFour<kDirectory>(ribbon, four, i, windows) << i;
  }
  if (i < num_hashes) {
    alignas(32) uint64_t rest[4] = {};
    for (size_t j = 0; i + j < num_hashes; ++j) rest[j] = hashes[i + j];
    const __m256i four = _mm256_load_si256(reinterpret_cast<const __m256i*>(rest));
    fast |= LocateFour<kDirectory>(ribbon, four, i, windows) << i;
  }
  return fast;
}

}  // namespace blocksieve::internal

#endif  // __x86_64__
