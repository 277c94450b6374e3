// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/probe.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cassert>

#include "lib/ribbon/staged_probe_loops.h"

// Batches of ribbon probes with AVX2. The first stage locates the windows of four hashes at a time,
// one per lane. probe_avx512.cc has the reasons.

#define BLOCKSIEVE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define BLOCKSIEVE_AVX2_INLINE BLOCKSIEVE_AVX2 static inline __attribute__((always_inline))

namespace blocksieve::internal {
namespace {

/// Windows of up to kProbeBatch hashes, and their fingerprints.
struct RibbonWindows {
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

/// Locates four windows from number `i` on, like LocateRibbon, which has the comments. Returns a
/// bit for each fast window; the others become the first window of the filter.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_AVX2_INLINE uint32_t LocateFour(const RibbonState& ribbon, __m256i hash, size_t i,
                                           RibbonWindows* windows) noexcept {
  const __m256i hash_high = _mm256_srli_epi64(hash, 32);
  const __m256i mixed = _mm256_add_epi64(
      _mm256_mul_epu32(hash, Four(kRibbonMixer)),
      _mm256_slli_epi64(_mm256_add_epi64(_mm256_mul_epu32(hash_high, Four(kRibbonMixer)),
                                         _mm256_mul_epu32(hash, Four(kRibbonMixer >> 32))),
                        32));
  __m256i first_octet = _mm256_setzero_si256();
  __m256i num_octets, multiplier;
  if constexpr (kDirectory == RibbonDirectory::kNone) {
    num_octets = Four(ribbon.chunk_octets());
    multiplier = Four(ribbon.multiplier());
  } else {
    // CheckRibbonShape guarantees fewer than 2^31 chunks.
    const __m256i num_chunks = Four(ribbon.num_chunks);
    const __m256i chunk = _mm256_srli_epi64(
        _mm256_add_epi64(_mm256_mul_epu32(hash_high, num_chunks),
                         _mm256_srli_epi64(_mm256_mul_epu32(hash, num_chunks), 32)),
        32);
    const __m256i entries = _mm256_cvtepu32_epi64(
        _mm256_i64gather_epi32(reinterpret_cast<const int*>(ribbon.directory()), chunk, 2));
    const __m256i place = Four(kRibbonEntryMask);
    first_octet = _mm256_and_si256(entries, place);
    if constexpr (kDirectory == RibbonDirectory::kBased) {
      const __m256i base = _mm256_cvtepu32_epi64(_mm256_i64gather_epi32(
          reinterpret_cast<const int*>(ribbon.bases()), _mm256_srli_epi64(chunk, 5), 4));
      first_octet =
          _mm256_add_epi64(base, _mm256_and_si256(_mm256_sub_epi64(entries, base), place));
    }
    num_octets = _mm256_and_si256(_mm256_sub_epi64(_mm256_srli_epi64(entries, 16), entries), place);
    multiplier = _mm256_and_si256(entries, Four(0xffff));
  }
  // The low 32 bits are the high half of the 64-bit product.
  const __m256i turned =
      _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(mixed, 32), multiplier),
                       _mm256_srli_epi64(_mm256_mul_epu32(mixed, multiplier), 32));
  const __m256i start =
      _mm256_add_epi64(_mm256_srli_epi64(_mm256_mul_epu32(turned, num_octets), 29),
                       _mm256_sub_epi64(_mm256_slli_epi64(first_octet, 3), Four(kRibbonFold)));
  // Below 2^58, so that a signed comparison is correct.
  const __m256i segment = _mm256_srli_epi64(start, 6);
  const __m256i fast = _mm256_cmpgt_epi64(Four(ribbon.fast_segments), segment);
  const __m256i narrow = _mm256_or_si256(_mm256_cmpgt_epi64(Four(ribbon.narrow_segments), segment),
                                         _mm256_xor_si256(fast, Four(~uint64_t{0})));
  const __m256i stride = _mm256_blendv_epi8(Four(ribbon.stride(1)), Four(ribbon.stride(0)), narrow);
  const __m256i origin = _mm256_blendv_epi8(Four(ribbon.origin[1]), Four(ribbon.origin[0]), narrow);
  // The segment number of a fast window fits 32 bits.
  const __m256i first =
      _mm256_add_epi64(origin, _mm256_and_si256(_mm256_mul_epu32(segment, stride), fast));
  const __m256i row = _mm256_or_si256(mixed, Four(1));
  const __m256i bits = _mm256_and_si256(start, Four(63));
  StoreFour(windows->first + i, first);
  StoreFour(windows->second + i, _mm256_add_epi64(first, stride));
  StoreFour(windows->first_coefficients + i, _mm256_sllv_epi64(row, bits));
  // A shift by 64 gives 0.
  StoreFour(windows->second_coefficients + i,
            _mm256_srlv_epi64(row, _mm256_sub_epi64(Four(64), bits)));
  StoreFour(windows->fingerprint + i, _mm256_srli_epi64(hash, 16));
  StoreFour(windows->in_use + i,
            _mm256_blendv_epi8(Four(ribbon.in_use(1)), Four(ribbon.in_use(0)), narrow));
  return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(fast)));
}

/// Locates all windows of a batch. Bit i of the result is set if window i is fast.
/// REQUIRES: fast_segments != 0
template <RibbonDirectory kDirectory>
BLOCKSIEVE_AVX2_INLINE uint32_t LocateBatch(const RibbonState& ribbon, const uint64_t* hashes,
                                            size_t num_hashes, RibbonWindows* windows) noexcept {
  assert(ribbon.fast_segments > 0);
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

// The kernel for filters of up to 4 * kQuads columns.
template <uint32_t kQuads>
struct Avx2Ribbon {
  BLOCKSIEVE_AVX2_INLINE bool Probe(const RibbonState& view, const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const uint32_t parities =
        Parities(window.segment, window.segment + window.stride, Four(FirstCoefficients(window)),
                 Four(SecondCoefficients(window)));
    return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
  }

  template <RibbonDirectory kDirectory>
  BLOCKSIEVE_AVX2_INLINE void Batch(const RibbonState& view, const uint64_t* hashes,
                                    size_t num_hashes, bool* may_match) noexcept {
    if (view.fast_segments == 0) [[unlikely]] {
      for (size_t i = 0; i < num_hashes; ++i) may_match[i] = ProbeRibbonAnywhere(view, hashes[i]);
      return;
    }
    RibbonWindows windows;
    const uint32_t fast = LocateBatch<kDirectory>(view, hashes, num_hashes, &windows);
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

  BLOCKSIEVE_RIBBON_KEY_BATCH(BLOCKSIEVE_AVX2)

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

  // Parities of eight columns, or four. The caller masks bits read past a segment's end.
  BLOCKSIEVE_AVX2_INLINE uint32_t EightParities(const uint8_t* a, const uint8_t* b, bool eight,
                                                __m256i first, __m256i second) noexcept {
    const __m256i low = Bits(a, b, first, second);
    const __m256i high = eight ? Bits(a + 32, b + 32, first, second) : _mm256_setzero_si256();
    // Fold words to 32 bits, low and high columns side by side, then to 4 bits.
    const __m256 even =
        _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
    const __m256 odd = _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0xDD);
    __m256i folded = _mm256_xor_si256(_mm256_castps_si256(even), _mm256_castps_si256(odd));
    folded = _mm256_permute4x64_epi64(folded, 0xD8);
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 16));
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 8));
    folded = _mm256_xor_si256(folded, _mm256_srli_epi32(folded, 4));
    // Look up the parity of each nibble, in the sign of its lane.
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
