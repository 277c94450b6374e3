#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "lib/bloom/blocked_bloom.h"

// What the kernels that fill the lines share.

namespace blocksieve::internal {

/// Lines fetched before the first of them is written to. Filters that fit the second-level cache do
/// without, which is a fifth faster; beyond the last level they would take three times as long.
inline constexpr size_t kFillBatch = 32;
inline constexpr uint64_t kFillWithoutFetchingBytes = 512 << 10;

/// Calls `set_bits(line, pattern)` for every hash. To be inlined, so that it takes on the target of
/// its caller.
template <class SetBits>
inline __attribute__((always_inline)) void ForEachLine(std::span<const uint64_t> hashes,
                                                       uint64_t num_lines, uint8_t* lines,
                                                       SetBits set_bits) noexcept {
  const auto line_of = [&](uint64_t hash) { return lines + kLineBytes * LineOf(hash, num_lines); };
  if (num_lines * kLineBytes <= kFillWithoutFetchingBytes) {
    for (const uint64_t hash : hashes) set_bits(line_of(hash), static_cast<uint32_t>(hash));
    return;
  }
  std::array<uint8_t*, kFillBatch> batch;
  while (!hashes.empty()) {
    const size_t count = hashes.size() < kFillBatch ? hashes.size() : kFillBatch;
    for (size_t i = 0; i < count; ++i) {
      batch[i] = line_of(hashes[i]);
      __builtin_prefetch(batch[i], 1);
    }
    for (size_t i = 0; i < count; ++i) set_bits(batch[i], static_cast<uint32_t>(hashes[i]));
    hashes = hashes.subspan(count);
  }
}

/// The fill functions for 1, 2, ... kMaxBloomProbes bits per key of a kernel that has
/// `template <uint32_t num_probes> struct { static void Fill(...); }`: with the number known, the
/// compiler unrolls the pattern.
template <template <uint32_t> class FillKernel>
constexpr std::array<FillFunction, kMaxBloomProbes> FillTable() {
  return []<uint32_t... j>(std::integer_sequence<uint32_t, j...>) {
    return std::array<FillFunction, kMaxBloomProbes>{&FillKernel<j + 1>::Fill...};
  }
  (std::make_integer_sequence<uint32_t, kMaxBloomProbes>());
}

extern const std::array<FillFunction, kMaxBloomProbes> kBlockedBloomFillAvx512;

}  // namespace blocksieve::internal
