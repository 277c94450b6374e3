#pragma once  // SPDX-License-Identifier: Apache-2.0

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "lib/hash/hash_inline.h"

// Hashes eight keys at a time with AVX-512, one per lane, in a third of the instructions per key. A
// core's instruction window limits the cache misses in flight, so more of them overlap, too.

#define BLOCKSIEVE_EIGHT        \
  __attribute__((always_inline, \
                 target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2"))) static inline

namespace blocksieve::internal {

/// Longer keys are hashed one by one.
inline constexpr size_t kMaxEightBytes = 128;

BLOCKSIEVE_EIGHT __m512i Broadcast(uint64_t x) noexcept {
  return _mm512_set1_epi64(static_cast<int64_t>(x));
}

/// The exclusive or of both halves of the 128-bit products.
BLOCKSIEVE_EIGHT __m512i FoldedProducts(__m512i a, __m512i b) noexcept {
  const __m512i low_half = Broadcast(0xffffffff);
  const __m512i a_high = _mm512_srli_epi64(a, 32);
  const __m512i b_high = _mm512_srli_epi64(b, 32);
  const __m512i low = _mm512_mul_epu32(a, b);
  const __m512i carried = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(low, 32));
  const __m512i middle =
      _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(carried, low_half));
  const __m512i high = _mm512_add_epi64(
      _mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), _mm512_srli_epi64(carried, 32)),
      _mm512_srli_epi64(middle, 32));
  const __m512i low_product = _mm512_mask_mov_epi32(low, 0xaaaa, _mm512_slli_epi64(middle, 32));
  return _mm512_xor_si512(high, low_product);
}

/// The words of key `i` at byte offsets `first` and `second`.
BLOCKSIEVE_EIGHT __m128i PairAt(KeyList keys, size_t i, size_t first, size_t second) noexcept {
  const char* const key = keys[i].data();
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(key + first));
  return _mm_castpd_si128(
      _mm_loadh_pd(_mm_castsi128_pd(low), reinterpret_cast<const double*>(key + second)));
}

BLOCKSIEVE_EIGHT __m512i FourPairsAt(KeyList keys, size_t first, size_t second) noexcept {
  const __m256i low = _mm256_inserti128_si256(
      _mm256_castsi128_si256(PairAt(keys, 0, first, second)), PairAt(keys, 2, first, second), 1);
  const __m256i high = _mm256_inserti128_si256(
      _mm256_castsi128_si256(PairAt(keys, 4, first, second)), PairAt(keys, 6, first, second), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/// The words of eight keys at byte offset `first`; `*seconds` gets those at `second`.
BLOCKSIEVE_EIGHT __m512i EightPairsAt(KeyList keys, size_t first, size_t second,
                                      __m512i* seconds) noexcept {
  const __m512i even = FourPairsAt(keys, first, second);
  const __m512i odd = FourPairsAt(keys.From(1), first, second);
  *seconds = _mm512_unpackhi_epi64(even, odd);
  return _mm512_unpacklo_epi64(even, odd);
}

/// The terms of sixteen bytes of each of eight keys, from byte `at` on, in the sums of their
/// hashes.
BLOCKSIEVE_EIGHT __m512i MixedPairs(KeyList keys, size_t at, const uint64_t* secret) noexcept {
  __m512i seconds;
  const __m512i firsts = EightPairsAt(keys, at, at + 8, &seconds);
  return FoldedProducts(_mm512_xor_si512(firsts, Broadcast(secret[0] + kKeyHashSeed)),
                        _mm512_xor_si512(seconds, Broadcast(secret[1] - kKeyHashSeed)));
}

/// HashKey(keys[i]) of eight keys, by the steps of XXH3. False unless all have the same
/// length of 9 to kMaxEightBytes bytes.
BLOCKSIEVE_EIGHT bool HashEightKeys(KeyList keys, __m512i* hashes) noexcept {
  const size_t length = keys[0].size();
  size_t differing = 0;
#pragma GCC unroll 8
  for (size_t i = 1; i < 8; ++i) differing |= keys[i].size() ^ length;
  if (differing != 0 || length - 9 > kMaxEightBytes - 9) return false;

  __m512i sum;
  if (length <= kShortKeyBytes) {
    __m512i ends;
    const __m512i starts = EightPairsAt(keys, 0, length - 8, &ends);
    const __m512i first = _mm512_xor_si512(starts, Broadcast(kFirstHashFlip));
    const __m512i last = _mm512_xor_si512(ends, Broadcast(kLastHashFlip));
    const __m512i reversed =
        _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    sum =
        _mm512_add_epi64(_mm512_add_epi64(Broadcast(length), _mm512_shuffle_epi8(first, reversed)),
                         _mm512_add_epi64(last, FoldedProducts(first, last)));
  } else {
    // From both ends inwards.
    sum = Broadcast(length * 0x9E3779B185EBCA87u);
    for (size_t from_end = 0; from_end <= (length - 1) / 32; ++from_end) {
      const uint64_t* const secret = kHashSecret + 4 * from_end;
      sum = _mm512_add_epi64(sum, MixedPairs(keys, 16 * from_end, secret));
      sum = _mm512_add_epi64(sum, MixedPairs(keys, length - 16 * (from_end + 1), secret + 2));
    }
  }
  sum = _mm512_xor_si512(sum, _mm512_srli_epi64(sum, 37));
  sum = _mm512_mullo_epi64(sum, Broadcast(0x165667919E3779F9u));
  *hashes = _mm512_xor_si512(sum, _mm512_srli_epi64(sum, 32));
  return true;
}

}  // namespace blocksieve::internal

#endif  // __x86_64__
