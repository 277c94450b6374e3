#include "lib/bloom/blocked_bloom.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/block/probe_loops.h"
#include "lib/hash/hash_eight.h"

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

/// Writes answers, of which there are `count`, if fewer than eight.
BLOCKSIEVE_AVX512 static inline __attribute__((always_inline)) void StoreAnswers(
    __m128i answers, size_t count, bool* may_match) noexcept {
  if (count >= 8) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(may_match), answers);
  } else {
    _mm_mask_storeu_epi8(may_match, static_cast<__mmask16>((1u << count) - 1), answers);
  }
}

/// Up to kProbeBatch hashes and their lines.
struct Avx512Batch {
  alignas(64) uint64_t hashes[kProbeBatch];
  alignas(64) uint64_t lines[kProbeBatch];

  BLOCKSIEVE_AVX512 inline __attribute__((always_inline)) void Fetch(const FilterView& view,
                                                                     size_t first,
                                                                     __m512i eight) noexcept {
    _mm512_store_si512(hashes + first, eight);
    FetchEight(view, eight, lines + first);
  }

  /// Answers for those from number `first` on, of which `count` are wanted.
  BLOCKSIEVE_AVX512 inline __attribute__((always_inline)) void Probe(const FilterView& view,
                                                                     size_t first, size_t count,
                                                                     bool* may_match) noexcept {
    const uint16_t mask = view.blocked_bloom.probe_mask;
    if (view.blocked_bloom.num_probes <= 8) {
      const auto in_use = static_cast<__mmask16>(mask | mask << 8);
      StoreAnswers(ProbeEightKeys(lines + first, _mm512_load_si512(hashes + first), in_use), count,
                   may_match + first);
      return;
    }
    const size_t end = first + std::min<size_t>(count, 8);
    for (size_t i = first; i < end; ++i) {
      may_match[i] = Avx512BlockedBloom::ProbeSixteen(reinterpret_cast<const uint8_t*>(lines[i]),
                                                      static_cast<int>(hashes[i]), mask);
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
      batch.Fetch(view, i, _mm512_maskz_loadu_epi64(lanes, hashes + first + i));
    }
    for (size_t i = 0; i < count; i += 8) batch.Probe(view, i, count - i, may_match + first);
  }
}

/// Fewer than eight keys are sooner done one by one.
BLOCKSIEVE_AVX512 bool Avx512FewKeys(const FilterView& view, KeyList keys, size_t num_keys,
                                     bool* may_match) noexcept {
  uint64_t hashes[8];
  const uint8_t* lines[8];
  const bool has_empty = HashKeys(view, keys, num_keys, hashes, [&](size_t i) {
    lines[i] = LineAt(view, hashes[i]);
    __builtin_prefetch(lines[i]);
  });
  const uint16_t mask = view.blocked_bloom.probe_mask;
  if (view.blocked_bloom.num_probes <= 8) {
    for (size_t i = 0; i < num_keys; ++i) {
      may_match[i] = Avx512BlockedBloom::ProbeEight(lines[i], static_cast<int>(hashes[i]),
                                                    static_cast<__mmask8>(mask));
    }
  } else {
    for (size_t i = 0; i < num_keys; ++i) {
      may_match[i] = Avx512BlockedBloom::ProbeSixteen(lines[i], static_cast<int>(hashes[i]), mask);
    }
  }
  return has_empty;
}

/// Keys that do not come in eights of one length are hashed and probed one by one.
BLOCKSIEVE_AVX512 bool Avx512Keys(const FilterView& view, KeyList keys, size_t num_keys,
                                  bool* may_match) noexcept {
  if (num_keys < 8) return Avx512FewKeys(view, keys, num_keys, may_match);
  bool has_empty = false;
  Avx512Batch batch;
  for (size_t first = 0; first < num_keys; first += kProbeBatch) {
    const size_t count = std::min(num_keys - first, kProbeBatch);
    bool in_eights[kProbeBatch / 8];
    for (size_t i = 0; i < count; i += 8) {
      __m512i eight;
      in_eights[i / 8] =
          count - i >= 8 && HashEightKeys(keys.From(first + i), view.hash_seed, &eight);
      if (in_eights[i / 8]) {
        batch.Fetch(view, i, eight);
      } else {
        has_empty |=
            HashKeys(view, keys.From(first + i), std::min<size_t>(count - i, 8), batch.hashes + i,
                     [&](size_t j) { FetchLine(view, batch.hashes[i + j]); });
      }
    }
    for (size_t i = 0; i < count; i += 8) {
      if (in_eights[i / 8]) {
        batch.Probe(view, i, 8, may_match + first);
        continue;
      }
      const size_t end = std::min(i + 8, count);
      for (size_t j = i; j < end; ++j) {
        may_match[first + j] = Avx512BlockedBloom::Probe(view, batch.hashes[j]);
      }
    }
  }
  return has_empty;
}

template <uint32_t num_probes>
struct Avx512Fill {
  // For each position, all sixteen words of the line at once: word i gets 1 << (position - 32 i),
  // which the shift instruction makes zero in all words but the right one. Computing all positions
  // in one vector and spreading them from there lost: the shuffles wait for the same units as the
  // shifts. So did multiplying in scalar registers: it is a third more instructions.
  BLOCKSIEVE_AVX512 static void Fill(std::span<const uint64_t> hashes, uint64_t num_lines,
                                     uint8_t* lines) {
    const __m512i first_bits = _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320,
                                                 352, 384, 416, 448, 480);
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
