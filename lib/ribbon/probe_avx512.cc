// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/probe.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "lib/hash/hash_eight.h"
#include "lib/ribbon/staged_probe_loops.h"

// Batches of ribbon probes with AVX-512. The first stage, two thirds of a probe, locates the
// windows of eight hashes at a time, one per lane. The second stage tests each window by itself,
// eight columns at a time. Nothing is prefetched: in the second stage all addresses are known and a
// probe takes a dozen instructions, so that the processor runs far enough ahead.

#define BLOCKSIEVE_AVX512                                      \
  __attribute__((                                              \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2," \
             "avx512vpopcntdq,bmi,bmi2,popcnt")))
#define BLOCKSIEVE_AVX512_INLINE BLOCKSIEVE_AVX512 static inline __attribute__((always_inline))

namespace blocksieve::internal {
namespace {

/// Parities of up to 4 * kQuads columns of a window in two segments: bit j for column j. The double
/// shift joins the window's slots; the lowest bit of a popcount, moved to the sign of its lane, is
/// the parity. Masked loads of eight columns read no other column; the last four, if only four are
/// left, are read whole.
template <uint32_t kQuads>
BLOCKSIEVE_AVX512_INLINE uint32_t RibbonParities(const uint8_t* first, const uint8_t* second,
                                                 uint32_t in_use, uint64_t coefficients,
                                                 uint64_t start) noexcept {
  const __m512i row = _mm512_set1_epi64(static_cast<int64_t>(coefficients));
  const __m512i shift = _mm512_set1_epi64(static_cast<int64_t>(start));
  uint32_t parities = 0;
#pragma GCC unroll 4
  for (uint32_t quad = 0; quad + 1 < kQuads; quad += 2) {
    const auto lanes = static_cast<__mmask8>(in_use >> (4 * quad));
    const __m512i slots =
        _mm512_shrdv_epi64(_mm512_maskz_loadu_epi64(lanes, first + 32 * quad),
                           _mm512_maskz_loadu_epi64(lanes, second + 32 * quad), shift);
    const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(slots, row));
    const uint32_t eight = _mm512_movepi64_mask(_mm512_slli_epi64(ones, 63));
    parities |= eight << (4 * quad);
  }
  if constexpr (kQuads % 2 == 1) {
    constexpr uint32_t kLast = kQuads - 1;
    const __m256i slots = _mm256_shrdv_epi64(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first + 32 * kLast)),
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second + 32 * kLast)),
        _mm512_castsi512_si256(shift));
    const __m256i ones = _mm256_popcnt_epi64(_mm256_and_si256(slots, _mm512_castsi512_si256(row)));
    const uint32_t four = _mm256_movepi64_mask(_mm256_slli_epi64(ones, 63));
    parities |= four << (4 * kLast);
  }
  return parities;
}

BLOCKSIEVE_AVX512_INLINE __m512i Eight(uint64_t x) noexcept {
  return _mm512_set1_epi64(static_cast<int64_t>(x));
}

/// Windows of up to kProbeBatch hashes, and their fingerprints.
struct RibbonWindows {
  alignas(64) uint64_t first[kProbeBatch];  // addresses of both segments
  alignas(64) uint64_t second[kProbeBatch];
  alignas(64) uint64_t coefficients[kProbeBatch];
  alignas(64) uint64_t start[kProbeBatch];
  alignas(64) uint64_t hash[kProbeBatch];
  alignas(64) uint32_t fingerprint[kProbeBatch];  // masked by in_use
  alignas(64) uint32_t in_use[kProbeBatch];
  alignas(64) uint32_t parities[kProbeBatch];
};

/// Locates eight windows from number `i` on, like LocateRibbon, which has the comments. Returns a
/// bit for each fast window; the others become the first window of the filter.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_AVX512_INLINE uint32_t LocateEight(const RibbonState& ribbon, __m512i hash, size_t i,
                                              RibbonWindows* windows) noexcept {
  const __m512i mixed = _mm512_mullo_epi64(hash, Eight(kRibbonMixer));
  __m512i first_octet, num_octets, multiplier;
  if constexpr (kDirectory == RibbonDirectory::kNone) {
    first_octet = _mm512_setzero_si512();
    num_octets = Eight(ribbon.chunk_octets());
    multiplier = Eight(ribbon.multiplier());
  } else {
    // CheckRibbonShape guarantees fewer than 2^31 chunks.
    const __m512i num_chunks = Eight(ribbon.num_chunks);
    const __m512i chunk = _mm512_srli_epi64(
        _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hash, 32), num_chunks),
                         _mm512_srli_epi64(_mm512_mul_epu32(hash, num_chunks), 32)),
        32);
    const __m512i entries =
        _mm512_cvtepu32_epi64(_mm512_i64gather_epi32(chunk, ribbon.directory(), 2));
    const __m512i place = Eight(kRibbonEntryMask);
    first_octet = _mm512_and_si512(entries, place);
    if constexpr (kDirectory == RibbonDirectory::kBased) {
      const __m512i base = _mm512_cvtepu32_epi64(
          _mm512_i64gather_epi32(_mm512_srli_epi64(chunk, 5), ribbon.bases(), 4));
      first_octet =
          _mm512_add_epi64(base, _mm512_and_si512(_mm512_sub_epi64(entries, base), place));
    }
    num_octets = _mm512_and_si512(_mm512_sub_epi64(_mm512_srli_epi64(entries, 16), entries), place);
    multiplier = _mm512_and_si512(entries, Eight(0xffff));
  }
  const __m512i turned = _mm512_srli_epi64(_mm512_mullo_epi64(mixed, multiplier), 32);
  // Folding at the low edge is cheaper here than a branch.
  const __m512i start = _mm512_max_epi64(
      _mm512_add_epi64(_mm512_srli_epi64(_mm512_mul_epu32(turned, num_octets), 29),
                       _mm512_sub_epi64(_mm512_slli_epi64(first_octet, 3), Eight(kRibbonFold))),
      _mm512_setzero_si512());
  const __m512i segment = _mm512_srli_epi64(start, 6);
  const __mmask8 fast = _mm512_cmplt_epu64_mask(segment, Eight(ribbon.fast_segments));
  const __mmask8 wide = _mm512_mask_cmpge_epu64_mask(fast, segment, Eight(ribbon.narrow_segments));
  // The segment number of a fast window fits 32 bits.
  const __m512i stride =
      _mm512_mask_mov_epi64(Eight(ribbon.stride(0)), wide, Eight(ribbon.stride(1)));
  const __m512i origin =
      _mm512_mask_mov_epi64(Eight(ribbon.origin[0]), wide, Eight(ribbon.origin[1]));
  const __m512i first = _mm512_mask_mov_epi64(
      Eight(ribbon.origin[0]), fast, _mm512_add_epi64(origin, _mm512_mul_epu32(segment, stride)));
  const __m256i in_use =
      _mm256_mask_mov_epi32(_mm256_set1_epi32(static_cast<int>(ribbon.in_use(0))), wide,
                            _mm256_set1_epi32(static_cast<int>(ribbon.in_use(1))));
  const __m256i fingerprint = _mm512_cvtepi64_epi32(_mm512_srli_epi64(hash, 16));
  _mm512_store_si512(windows->first + i, first);
  _mm512_store_si512(windows->second + i, _mm512_add_epi64(first, stride));
  _mm512_store_si512(windows->coefficients + i, _mm512_or_si512(mixed, Eight(1)));
  _mm512_store_si512(windows->start + i, start);
  _mm512_store_si512(windows->hash + i, hash);
  _mm256_store_si256(reinterpret_cast<__m256i*>(windows->in_use + i), in_use);
  _mm256_store_si256(reinterpret_cast<__m256i*>(windows->fingerprint + i),
                     _mm256_and_si256(fingerprint, in_use));
  return fast;
}

/// A bit for each of sixteen windows from number `i` on: whether parities and fingerprint agree.
BLOCKSIEVE_AVX512_INLINE uint32_t SixteenMatch(const RibbonWindows& windows, size_t i) noexcept {
  const __m512i parities = _mm512_and_si512(_mm512_load_si512(windows.parities + i),
                                            _mm512_load_si512(windows.in_use + i));
  return _mm512_cmpeq_epi32_mask(parities, _mm512_load_si512(windows.fingerprint + i));
}

BLOCKSIEVE_AVX512_INLINE __m128i LowBytes(const uint32_t* eight) noexcept {
  return _mm256_cvtepi32_epi8(_mm256_load_si256(reinterpret_cast<const __m256i*>(eight)));
}

/// Probes the windows of a batch. The answers of slow windows are wrong.
template <uint32_t kQuads>
BLOCKSIEVE_AVX512_INLINE void ProbeRibbonWindows(const RibbonState& ribbon, size_t num_windows,
                                                 RibbonWindows* windows, bool* may_match) noexcept {
  // A narrow window may read past its last column: see OverreadBytes.
  for (size_t i = 0; i < num_windows; ++i) {
    windows->parities[i] =
        RibbonParities<kQuads>(reinterpret_cast<const uint8_t*>(windows->first[i]),
                               reinterpret_cast<const uint8_t*>(windows->second[i]),
                               ribbon.max_in_use(), windows->coefficients[i], windows->start[i]);
  }
  _mm256_mask_storeu_epi8(
      may_match, _bzhi_u32(~uint32_t{0}, static_cast<uint32_t>(num_windows)),
      _mm256_maskz_set1_epi8(SixteenMatch(*windows, 0) | SixteenMatch(*windows, 16) << 16, 1));
}

/// Parities of eight words: columns, or bytes after the last column.
BLOCKSIEVE_AVX512_INLINE __mmask8 WordParities(const uint8_t* first, const uint8_t* second,
                                               __m512i coefficients, __m512i start) noexcept {
  const __m512i slots =
      _mm512_shrdv_epi64(_mm512_loadu_si512(first), _mm512_loadu_si512(second), start);
  const __m512i ones = _mm512_popcnt_epi64(_mm512_and_si512(slots, coefficients));
  return _mm512_test_epi64_mask(ones, Eight(1));
}

/// ProbeRibbonWindows for up to eight columns: a byte of parities for each of eight windows.
BLOCKSIEVE_AVX512_INLINE void ProbeNarrowWindows(size_t num_windows, RibbonWindows* windows,
                                                 bool* may_match) noexcept {
  for (size_t i = 0; i < num_windows; i += 8) {
    __mmask8 odd[8];
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) {
      odd[j] = WordParities(reinterpret_cast<const uint8_t*>(windows->first[i + j]),
                            reinterpret_cast<const uint8_t*>(windows->second[i + j]),
                            Eight(windows->coefficients[i + j]), Eight(windows->start[i + j]));
    }
    const __mmask64 parities = _mm512_kunpackd(
        _mm512_kunpackw(_mm512_kunpackb(odd[7], odd[6]), _mm512_kunpackb(odd[5], odd[4])),
        _mm512_kunpackw(_mm512_kunpackb(odd[3], odd[2]), _mm512_kunpackb(odd[1], odd[0])));
    const __m128i of_windows = _mm_cvtsi64_si128(static_cast<int64_t>(parities));
    const __m128i wrong =
        _mm_and_si128(_mm_xor_si128(of_windows, LowBytes(windows->fingerprint + i)),
                      LowBytes(windows->in_use + i));
    const __m128i answers =
        _mm_and_si128(_mm_cmpeq_epi8(wrong, _mm_setzero_si128()), _mm_set1_epi8(1));
    if (num_windows - i >= 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(may_match + i), answers);
    } else {
      _mm_mask_storeu_epi8(may_match + i, static_cast<__mmask16>((1u << (num_windows - i)) - 1),
                           answers);
    }
  }
}

// The kernel for filters of up to 4 * kQuads columns.
template <uint32_t kQuads>
struct Avx512Ribbon {
  BLOCKSIEVE_AVX512_INLINE bool Probe(const RibbonState& view,
                                      const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const uint32_t parities =
        RibbonParities<kQuads>(window.segment, window.segment + window.stride, window.in_use,
                               window.coefficients, window.start);
    return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
  }

  template <RibbonDirectory kDirectory>
  BLOCKSIEVE_AVX512_INLINE void Batch(const RibbonState& view, const uint64_t* hashes,
                                      size_t num_hashes, bool* may_match) noexcept {
    if (view.fast_segments == 0) [[unlikely]] {
      for (size_t i = 0; i < num_hashes; ++i) may_match[i] = ProbeRibbonAnywhere(view, hashes[i]);
      return;
    }
    const auto load = [&](size_t i, __m512i* eight) BLOCKSIEVE_AVX512 {
      const auto lanes =
          static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<uint32_t>(num_hashes - i)));
      *eight = _mm512_maskz_loadu_epi64(lanes, hashes + i);
    };
    ProbeEights<kDirectory>(view, num_hashes, load, may_match);
  }

  template <RibbonDirectory kDirectory>
  BLOCKSIEVE_AVX512_INLINE bool KeyBatch(const RibbonState& view, KeyList keys, size_t num_keys,
                                         bool* may_match) noexcept {
    bool has_empty = false;
    const auto load = [&](size_t i, __m512i* eight) BLOCKSIEVE_AVX512 {
      if (HashEightKeys(keys.From(i), eight)) [[likely]]
        return;
      alignas(64) uint64_t hashes[8];
      has_empty |= HashKeys(keys.From(i), 8, hashes, [](size_t) {});
      *eight = _mm512_load_si512(hashes);
    };
    // Fewer than eight are faster one by one.
    const size_t in_eights = view.fast_segments == 0 ? 0 : num_keys / 8 * 8;
    if (in_eights > 0) ProbeEights<kDirectory>(view, in_eights, load, may_match);
    uint64_t rest[kProbeBatch];
    has_empty |= HashKeys(keys.From(in_eights), num_keys - in_eights, rest, [](size_t) {});
    for (size_t i = in_eights; i < num_keys; ++i) {
      may_match[i] = Probe(view, LocateRibbon<kDirectory, true>(view, rest[i - in_eights]));
    }
    return has_empty;
  }

 private:
  /// `load(i, eight)` loads eight hashes from number i on. REQUIRES: fast_segments != 0
  template <RibbonDirectory kDirectory, class Load>
  BLOCKSIEVE_AVX512_INLINE void ProbeEights(const RibbonState& view, size_t num_hashes, Load load,
                                            bool* may_match) noexcept {
    RibbonWindows windows;
    uint32_t fast = 0;
    for (size_t i = 0; i < num_hashes; i += 8) {
      __m512i eight;
      load(i, &eight);
      fast |= LocateEight<kDirectory>(view, eight, i, &windows) << i;
    }
    if constexpr (kQuads == 2) {
      ProbeNarrowWindows(num_hashes, &windows, may_match);
    } else {
      ProbeRibbonWindows<kQuads>(view, num_hashes, &windows, may_match);
    }
    const uint32_t valid = _bzhi_u32(~uint32_t{0}, static_cast<uint32_t>(num_hashes));
    for (uint32_t slow = ~fast & valid; slow != 0; slow &= slow - 1) [[unlikely]] {
        const auto i = static_cast<size_t>(_tzcnt_u32(slow));
        may_match[i] = ProbeRibbonAnywhere(view, windows.hash[i]);
      }
  }
};

}  // namespace

BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By8, Avx512Ribbon<2>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By12, Avx512Ribbon<3>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By16, Avx512Ribbon<4>, BLOCKSIEVE_AVX512)
BLOCKSIEVE_RIBBON_OPS(kRibbonAvx512By28, Avx512Ribbon<7>, BLOCKSIEVE_AVX512)

}  // namespace blocksieve::internal

#endif  // __x86_64__
