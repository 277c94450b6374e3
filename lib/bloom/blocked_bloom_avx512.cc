#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/hash_eight_keys.h"
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

// Batches: the lines of all keys are asked for before the first is tested. Eight keys at a time
// have their hashes and lines found, one per lane, and are tested two at a time, eight lanes for
// each.

/// Finds the lines of eight hashes, and asks for their memory.
BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) void FetchEight(
    const FilterView& view, __m512i hashes, uint64_t* lines) noexcept {
  // There are fewer than 2^32 lines: a block is below 4 GiB.
  const __m512i num_lines = EightOf(view.blocked_bloom.num_lines);
  const __m512i line = _mm512_srli_epi64(
      _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hashes, 32), num_lines),
                       _mm512_srli_epi64(_mm512_mul_epu32(hashes, num_lines), 32)),
      32);
  _mm512_store_si512(lines, _mm512_add_epi64(_mm512_slli_epi64(line, 6),
                                             EightOf(reinterpret_cast<uintptr_t>(view.data))));
#pragma GCC unroll 8
  for (size_t i = 0; i < 8; ++i) __builtin_prefetch(reinterpret_cast<const uint8_t*>(lines[i]));
}

/// Answers of eight keys, each a byte that is 0 or 1, in the lower half. For up to eight positions.
BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) __m128i ProbeEightKeys(
    const uint64_t* lines, __m512i hashes, __mmask16 in_use) noexcept {
  const __m512i factors = _mm512_broadcast_i64x4(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPatternFactors.data())));
  const __m512i second_line = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0,  //
                                                16, 16, 16, 16, 16, 16, 16, 16);
  // Twice the number of the key that a lane is for.
  __m512i key = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2);
  __mmask16 missing[4];
#pragma GCC unroll 4
  for (size_t pair = 0; pair < 4; ++pair) {
    const __m512i products = _mm512_mullo_epi32(_mm512_permutexvar_epi32(key, hashes), factors);
    const __m512i words = _mm512_permutex2var_epi32(
        _mm512_loadu_si512(reinterpret_cast<const void*>(lines[2 * pair])),
        _mm512_or_si512(_mm512_srli_epi32(products, 28), second_line),
        _mm512_loadu_si512(reinterpret_cast<const void*>(lines[2 * pair + 1])));
    const __m512i bits = _mm512_rorv_epi32(words, _mm512_srli_epi32(products, 23));
    missing[pair] = _mm512_mask_testn_epi32_mask(in_use, bits, _mm512_set1_epi32(1));
    key = _mm512_add_epi32(key, _mm512_set1_epi32(4));
  }
  const __m128i byte_per_key = _mm_cvtsi64_si128(static_cast<int64_t>(_mm512_kunpackd(
      _mm512_kunpackw(missing[3], missing[2]), _mm512_kunpackw(missing[1], missing[0]))));
  return _mm_and_si128(_mm_cmpeq_epi8(byte_per_key, _mm_setzero_si128()), _mm_set1_epi8(1));
}

/// Up to kProbeBatch hashes, of which the last vector is padded.
struct Avx512Batch {
  __m512i hashes[kProbeBatch / 8];
  alignas(64) uint64_t lines[kProbeBatch];

  BLOCKSIEVE_AVX512 inline __attribute__((always_inline)) void Fetch(const FilterView& view,
                                                                     size_t eight,
                                                                     __m512i of_keys) noexcept {
    hashes[eight] = of_keys;
    FetchEight(view, of_keys, lines + 8 * eight);
  }

  BLOCKSIEVE_AVX512 inline __attribute__((always_inline)) void Probe(const FilterView& view,
                                                                     size_t num_hashes,
                                                                     bool* may_match) noexcept {
    const uint16_t mask = view.blocked_bloom.probe_mask;
    if (view.blocked_bloom.num_probes > 8) {
      alignas(64) uint64_t patterns[kProbeBatch];
      for (size_t i = 0; i < kProbeBatch / 8; ++i) {
        if (8 * i < num_hashes) _mm512_store_si512(patterns + 8 * i, hashes[i]);
      }
      for (size_t i = 0; i < num_hashes; ++i) {
        may_match[i] = Avx512BlockedBloom::ProbeSixteen(reinterpret_cast<const uint8_t*>(lines[i]),
                                                        static_cast<int>(patterns[i]), mask);
      }
      return;
    }
    const auto in_use = static_cast<__mmask16>(mask | mask << 8);
    for (size_t i = 0; i < num_hashes; i += 8) {
      const __m128i answers = ProbeEightKeys(lines + i, hashes[i / 8], in_use);
      if (num_hashes - i >= 8) {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(may_match + i), answers);
      } else {
        _mm_mask_storeu_epi8(may_match + i, static_cast<__mmask16>((1u << (num_hashes - i)) - 1),
                             answers);
      }
    }
  }
};

BLOCKSIEVE_AVX512 void Avx512Hashes(const FilterView& view, const uint64_t* hashes,
                                    size_t num_hashes, bool* may_match) noexcept {
  Avx512Batch batch;
  for (size_t first = 0; first < num_hashes; first += kProbeBatch) {
    const size_t count = std::min(num_hashes - first, kProbeBatch);
    for (size_t i = 0; i < count; i += 8) {
      const auto lanes = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<uint32_t>(count - i)));
      batch.Fetch(view, i / 8, _mm512_maskz_loadu_epi64(lanes, hashes + first + i));
    }
    batch.Probe(view, count, may_match + first);
  }
}

BLOCKSIEVE_AVX512 bool Avx512Keys(const FilterView& view, KeyList keys, size_t num_keys,
                                  bool* may_match) noexcept {
  bool has_empty = false;
  Avx512Batch batch;
  for (size_t first = 0; first < num_keys; first += kProbeBatch) {
    const size_t count = std::min(num_keys - first, kProbeBatch);
    for (size_t i = 0; i < count; i += 8) {
      __m512i hashes;
      has_empty |= HashUpToEight(view, keys.From(first + i), count - i, &hashes);
      batch.Fetch(view, i / 8, hashes);
    }
    batch.Probe(view, count, may_match + first);
  }
  return has_empty;
}

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

namespace {
BLOCKSIEVE_KEY_PROBES(Avx512Bloom, BLOCKSIEVE_AVX512, Avx512BlockedBloom::Probe(view, hash))
}  // namespace
const ProbeOps kBlockedBloomAvx512 = {&Avx512BloomKey, &Avx512BloomHash, &Avx512Hashes,
                                      &Avx512Keys};

}  // namespace blocksieve::internal

#endif  // __x86_64__
