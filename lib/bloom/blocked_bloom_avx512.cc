// SPDX-License-Identifier: Apache-2.0
#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"
#include "lib/hash/hash_eight.h"

#define BLOCKSIEVE_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2")))
#define BLOCKSIEVE_AVX512_INLINE BLOCKSIEVE_AVX512 static inline __attribute__((always_inline))

namespace blocksieve::internal {
namespace {

BLOCKSIEVE_AVX512_INLINE __m256i Eight(const uint32_t* words) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

/// Tests up to eight positions at once: selects each position's word by its high four bits, rotates
/// the position's bit to the lowest place, and checks whether any of these bits is zero. In 256-bit
/// registers, which halves the work on processors that split 512-bit operations (Zen 4).
struct UpToEight {
  BLOCKSIEVE_AVX512_INLINE bool ProbeLine(const uint8_t* line, uint64_t hash,
                                          const PatternRow& pattern) noexcept {
    const auto* halves = reinterpret_cast<const __m256i*>(line);
    const __m256i products =
        _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(hash)), Eight(pattern.factors));
    const __m256i words =
        _mm256_permutex2var_epi32(_mm256_loadu_si256(halves), _mm256_srli_epi32(products, 28),
                                  _mm256_loadu_si256(halves + 1));
    const __m256i bits = _mm256_rorv_epi32(words, _mm256_srli_epi32(products, 23));
    return _mm256_testn_epi32_mask(bits, Eight(pattern.ones)) == 0;
  }

  /// Tests eight keys, two at a time, with eight lanes for each. Returns a byte per key, 0 or 1.
  BLOCKSIEVE_AVX512_INLINE __m128i ProbeEight(const uint64_t* lines, __m512i hashes,
                                              const PatternRow& pattern) noexcept {
    const __m512i factors_twice = _mm512_broadcast_i64x4(Eight(pattern.factors));
    const __m512i second_line = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0,  //
                                                  16, 16, 16, 16, 16, 16, 16, 16);
    // Twice the number of each lane's key.
    __m512i key = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2);
    __mmask16 missing[4];
#pragma GCC unroll 4
    for (size_t pair = 0; pair < 4; ++pair) {
      const __m512i products =
          _mm512_mullo_epi32(_mm512_permutexvar_epi32(key, hashes), factors_twice);
      const __m512i words = _mm512_permutex2var_epi32(
          _mm512_loadu_si512(reinterpret_cast<const void*>(lines[2 * pair])),
          _mm512_or_si512(_mm512_srli_epi32(products, 28), second_line),
          _mm512_loadu_si512(reinterpret_cast<const void*>(lines[2 * pair + 1])));
      const __m512i bits = _mm512_rorv_epi32(words, _mm512_srli_epi32(products, 23));
      missing[pair] = _mm512_testn_epi32_mask(bits, _mm512_set1_epi32(1));
      key = _mm512_add_epi32(key, _mm512_set1_epi32(4));
    }
    const __m128i byte_per_key = _mm_cvtsi64_si128(static_cast<int64_t>(_mm512_kunpackd(
        _mm512_kunpackw(missing[3], missing[2]), _mm512_kunpackw(missing[1], missing[0]))));
    return _mm_and_si128(_mm_cmpeq_epi8(byte_per_key, _mm_setzero_si128()), _mm_set1_epi8(1));
  }
};

/// Tests up to sixteen positions, in 512-bit registers.
struct UpToSixteen {
  BLOCKSIEVE_AVX512_INLINE bool ProbeLine(const uint8_t* line, uint64_t hash,
                                          const PatternRow& pattern) noexcept {
    const __m512i products = _mm512_mullo_epi32(_mm512_set1_epi32(static_cast<int>(hash)),
                                                _mm512_loadu_si512(pattern.factors));
    const __m512i words =
        _mm512_permutexvar_epi32(_mm512_srli_epi32(products, 28), _mm512_loadu_si512(line));
    const __m512i bits = _mm512_rorv_epi32(words, _mm512_srli_epi32(products, 23));
    return _mm512_testn_epi32_mask(bits, _mm512_loadu_si512(pattern.ones)) == 0;
  }

  BLOCKSIEVE_AVX512_INLINE __m128i ProbeEight(const uint64_t* lines, __m512i hashes,
                                              const PatternRow& pattern) noexcept {
    alignas(64) uint64_t hash[8];
    _mm512_store_si512(hash, hashes);
    uint64_t byte_per_key = 0;
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) {
      const auto* line = reinterpret_cast<const uint8_t*>(lines[i]);
      byte_per_key |= uint64_t{ProbeLine(line, hash[i], pattern)} << (8 * i);
    }
    return _mm_cvtsi64_si128(static_cast<int64_t>(byte_per_key));
  }
};

// Batches prefetch the lines of all keys before they test the first. Hashes and lines are computed
// for eight keys at a time, one per lane; keys are tested two at a time, with eight lanes for each.

/// Computes and prefetches the lines of eight hashes.
BLOCKSIEVE_AVX512_INLINE void FetchEight(const BloomState& view, __m512i hashes,
                                         uint64_t* lines) noexcept {
  // ReadFields guarantees fewer than 2^32 lines.
  const __m512i num_lines = Broadcast(view.num_lines);
  const __m512i line = _mm512_srli_epi64(
      _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hashes, 32), num_lines),
                       _mm512_srli_epi64(_mm512_mul_epu32(hashes, num_lines), 32)),
      32);
  _mm512_store_si512(lines, _mm512_add_epi64(_mm512_slli_epi64(line, 6),
                                             Broadcast(reinterpret_cast<uintptr_t>(view.data))));
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) __builtin_prefetch(reinterpret_cast<const uint8_t*>(lines[i]));
}

BLOCKSIEVE_AVX512_INLINE void StoreAnswers(__m128i answers, size_t count,
                                           bool* may_match) noexcept {
  if (count >= 8) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(may_match), answers);
  } else {
    _mm_mask_storeu_epi8(may_match, static_cast<__mmask16>((1u << count) - 1), answers);
  }
}

template <class Test>
struct Avx512Bloom {
  BLOCKSIEVE_KEY_PROBES(MayMatch, BloomState, static BLOCKSIEVE_AVX512,
                        Test::ProbeLine(LineAt(view, hash), hash, view.pattern()))

  BLOCKSIEVE_AVX512 static void Hashes(const void* state, const uint64_t* hashes, size_t num_hashes,
                                       bool* may_match) noexcept {
    const auto& view = *static_cast<const BloomState*>(state);
    alignas(64) uint64_t lines[kProbeBatch];
    __m512i eights[kProbeBatch / 8];
    for (size_t first = 0; first < num_hashes; first += kProbeBatch) {
      const size_t count = std::min(num_hashes - first, kProbeBatch);
      for (size_t i = 0; i < count; i += 8) {
        const auto lanes = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<uint32_t>(count - i)));
        eights[i / 8] = _mm512_maskz_loadu_epi64(lanes, hashes + first + i);
        FetchEight(view, eights[i / 8], lines + i);
      }
      for (size_t i = 0; i < count; i += 8) {
        StoreAnswers(Test::ProbeEight(lines + i, eights[i / 8], view.pattern()), count - i,
                     may_match + first + i);
      }
    }
  }

  BLOCKSIEVE_AVX512 static bool Keys(const void* state, KeyList keys, size_t num_keys,
                                     bool* may_match) noexcept {
    const auto& view = *static_cast<const BloomState*>(state);
    bool has_empty = false;
    while (num_keys >= 8) {
      const size_t count = std::min(num_keys / 8 * 8, kProbeBatch);
      has_empty |= Eights(view, keys, count, may_match);
      keys = keys.From(count);
      may_match += count;
      num_keys -= count;
    }
    return num_keys == 0 ? has_empty : RemainingKeys(view, keys, num_keys, may_match) || has_empty;
  }

 private:
  /// Probes up to kProbeBatch keys, a multiple of eight. Eight keys of different lengths are hashed
  /// one by one.
  BLOCKSIEVE_AVX512_INLINE bool Eights(const BloomState& view, KeyList keys, size_t num_keys,
                                       bool* may_match) noexcept {
    alignas(64) uint64_t lines[kProbeBatch];
    __m512i eights[kProbeBatch / 8];
    bool has_empty = false;
    for (size_t i = 0; i < num_keys; i += 8) {
      if (!HashEightKeys(keys.From(i), &eights[i / 8])) [[unlikely]] {
        alignas(64) uint64_t hashes[8];
        has_empty |= HashKeys(keys.From(i), 8, hashes, [](size_t) {});
        eights[i / 8] = _mm512_load_si512(hashes);
      }
      FetchEight(view, eights[i / 8], lines + i);
    }
    for (size_t i = 0; i < num_keys; i += 8) {
      StoreAnswers(Test::ProbeEight(lines + i, eights[i / 8], view.pattern()), 8, may_match + i);
    }
    return has_empty;
  }

  /// Probes fewer than eight keys one by one, which is faster.
  BLOCKSIEVE_AVX512 static bool RemainingKeys(const BloomState& view, KeyList keys, size_t num_keys,
                                              bool* may_match) noexcept {
    uint64_t hashes[8];
    const uint8_t* lines[8];
    const bool has_empty = HashKeys(keys, num_keys, hashes, [&](size_t i) {
      lines[i] = LineAt(view, hashes[i]);
      __builtin_prefetch(lines[i]);
    });
    for (size_t i = 0; i < num_keys; ++i) {
      may_match[i] = Test::ProbeLine(lines[i], hashes[i], view.pattern());
    }
    return has_empty;
  }
};

template <class Test>
constexpr ProbeOps kOps = {&Avx512Bloom<Test>::MayMatchKey, &Avx512Bloom<Test>::MayMatchHash,
                           &Avx512Bloom<Test>::Hashes, &Avx512Bloom<Test>::Keys,
                           sizeof(BloomState)};

// For each position, all sixteen words of the line at once: word i gets 1 << (position - 32 i),
// which the shift instruction makes zero in all words but one. Rejected: computing all positions in
// one vector, because its shuffles compete with the shifts for the same units; multiplying in
// scalar registers, because it takes a third more instructions.
template <uint32_t num_probes>
BLOCKSIEVE_AVX512 void Fill(std::span<const uint64_t> hashes, uint64_t num_lines, uint8_t* lines) {
  const __m512i first_bits =
      _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 480);
  const __m512i one = _mm512_set1_epi32(1);
  ForEachLine(hashes, num_lines, lines, [&](uint8_t* at, uint32_t pattern) BLOCKSIEVE_AVX512 {
    const __m512i patterns = _mm512_set1_epi32(static_cast<int>(pattern));
    __m512i line = _mm512_loadu_si512(at);
#pragma GCC unroll 16
    for (uint32_t j = 0; j < num_probes; ++j) {
      const __m512i products =
          _mm512_mullo_epi32(patterns, _mm512_set1_epi32(static_cast<int>(kPatternFactors[j])));
      const __m512i shift = _mm512_sub_epi32(_mm512_srli_epi32(products, 23), first_bits);
      line = _mm512_or_si512(line, _mm512_sllv_epi32(one, shift));
    }
    _mm512_storeu_si512(at, line);
  });
}

}  // namespace

const FillFunctions kBlockedBloomFillAvx512 =
    FillTable([]<uint32_t num_probes>() { return &Fill<num_probes>; });
const ProbeOps kBlockedBloomAvx512By8 = kOps<UpToEight>;
const ProbeOps kBlockedBloomAvx512By16 = kOps<UpToSixteen>;

}  // namespace blocksieve::internal

#endif  // __x86_64__
