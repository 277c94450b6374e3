// SPDX-License-Identifier: Apache-2.0
#include "lib/postings/dictionary.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::internal {
namespace {

constexpr unsigned kLengthK = 5;  // k of the code of a long list's length above MinGapBits

/// Zeros before the first one. 63 if there is no one: the code is longer than a load.
unsigned LeadingZeros(uint64_t next) noexcept {
  return static_cast<unsigned>(std::countr_zero(next | uint64_t{1} << 63));
}

/// Calls `visit(gap)` for `count` gaps until it returns false. Decodes as many codes from one load
/// as usually fit, and then checks whether they did: a branch on the number that fits would be
/// mispredicted with nearly every load.
template <class Visit>
void ReadGaps(uint64_t count, unsigned k, BitReader* from, Visit visit) noexcept {
  constexpr unsigned kMaxAtOnce = 8;
  const uint64_t at_once = std::min(kMaxCodeBits / (k + 5), kMaxAtOnce);
  while (count != 0) {
    const uint64_t num_codes = std::min(count, at_once);
    uint64_t gaps[kMaxAtOnce];
    uint64_t next = from->PeekCode();
    unsigned taken = 0;
    // Masks keep shifts defined. They change a shift only if the codes are longer than a load.
    for (uint64_t i = 0; i < num_codes; ++i) {
      const unsigned zeros = LeadingZeros(next);
      const uint64_t lows = LowBits((zeros + k) & 63);
      gaps[i] = (next >> zeros >> 1 & lows) + lows - LowBits(k);
      const unsigned length = 2 * zeros + 1 + k;
      next >>= length & 63;
      taken += length;
    }
    if (taken <= kMaxCodeBits) {
      from->Skip(taken);
      for (uint64_t i = 0; i < num_codes; ++i) {
        if (!visit(gaps[i])) return;
      }
      count -= num_codes;
    } else {
      if (!visit(from->ExpGolomb(k)) || !from->ok()) return;
      --count;
    }
  }
}

/// Skips `count` gaps, always four at a time: a branch on the number left would be mispredicted
/// with nearly every list.
void SkipGaps(uint64_t count, unsigned k, BitReader* from) noexcept {
  constexpr unsigned kAtOnce = 4;
  while (count != 0 && from->ok()) {
    uint64_t next = from->PeekCode();
    unsigned taken = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < kAtOnce; ++i) {
      const unsigned zeros = LeadingZeros(next);
      const unsigned length = i < count ? 2 * zeros + 1 + k : 0;
      next >>= length & 63;
      taken += length;
    }
    if (taken <= kMaxCodeBits) {
      from->Skip(taken);
      count -= std::min<uint64_t>(count, kAtOnce);
    } else {
      from->ExpGolomb(k);
      --count;
    }
  }
}

/// Like ReadGaps with k = 0, where a gap of 0 is a one bit: calls `visit(gap, times)` once for
/// consecutive gaps of 0.
template <class Visit>
void ReadGapsAndRepeats(uint64_t count, BitReader* from, Visit visit) noexcept {
  while (count != 0) {
    uint64_t next = from->PeekCode();
    unsigned taken = 0;
    while (count != 0) {
      const auto ones = static_cast<uint64_t>(std::countr_one(next));
      const uint64_t repeats = std::min({ones, uint64_t{kMaxCodeBits - taken}, count});
      if (repeats > 1) {
        if (!visit(0, repeats)) return;
        next >>= repeats;
        taken += static_cast<unsigned>(repeats);
        count -= repeats;
        continue;
      }
      const auto zeros = static_cast<unsigned>(std::countr_zero(next));
      if (taken + 2 * zeros + 1 > kMaxCodeBits) break;
      if (!visit((next >> (zeros + 1) & LowBits(zeros)) + LowBits(zeros), 1)) return;
      next >>= 2 * zeros + 1;
      taken += 2 * zeros + 1;
      --count;
    }
    from->Skip(taken);
    if (taken != 0) continue;
    if (!visit(from->ExpGolomb(0), 1) || !from->ok()) return;  // longer than a load
    --count;
  }
}

/// A gap takes at least one bit and k low bits.
uint64_t MinGapBits(uint64_t count, unsigned k) noexcept { return (count - 1) * (k + 1); }

/// Nearly the best k for the gaps of a list.
unsigned ChooseGapBits(std::span<const uint32_t> granules) noexcept {
  std::array<int64_t, 40> by_width{};  // gaps by bit width
  for (size_t i = 1; i < granules.size(); ++i) {
    ++by_width[static_cast<size_t>(std::bit_width(granules[i] - granules[i - 1] - 1))];
  }
  // With k + 1, gaps of up to k bits take a bit more, gaps of k + 1 bits one less, gaps of k + 2
  // bits the same. Most longer gaps take one less, the longer the more.
  auto longer = static_cast<int64_t>(granules.size()) - 1;
  int64_t shorter = 0;
  for (size_t width = 0; width < 5; ++width) longer -= by_width[width];
  unsigned k = 0;
  for (; k < 31; ++k) {
    shorter += by_width[k];
    const int64_t quarters =
        4 * shorter - 4 * by_width[k + 1] - 2 * by_width[k + 3] - 3 * by_width[k + 4] - 4 * longer;
    if (quarters >= 0) break;
    longer -= by_width[k + 5];
  }
  return k;
}

void AppendBitmap(std::span<const uint32_t> granules, uint64_t num_granules, BitWriter* out) {
  auto granule = granules.begin();
  for (uint64_t first = 0; first < num_granules; first += 32) {
    const uint64_t end = std::min(first + 32, num_granules);
    uint64_t word = 0;
    for (; granule != granules.end() && *granule < end; ++granule) {
      word |= uint64_t{1} << (*granule - first);
    }
    out->Bits(word, static_cast<unsigned>(end - first));
  }
}

/// ORs the first `count` bits of `bitmap` into `words`.
void OrBitmap(uint64_t count, BitReader bitmap, uint64_t* words) noexcept {
  for (uint64_t first = 0; first < count; first += 64, ++words) {
    const uint64_t left = count - first;
    *words |= left >= 64 ? bitmap.Peek() : bitmap.Peek() & LowBits(static_cast<unsigned>(left));
    bitmap.Skip(64);
  }
}

}  // namespace

GranuleLists::GranuleLists(uint64_t num_granules, uint32_t closeness) noexcept
    : num_granules_(num_granules) {
  assert(num_granules <= kMaxListedGranules);
  for (uint64_t count = 1; count < kLongList; ++count) {
    // From a quarter of the mean gap.
    const auto width = static_cast<uint32_t>(std::bit_width(num_granules / (4 * count)));
    gap_bits_[count] = static_cast<uint8_t>(width <= closeness + 1 ? 0 : width - 1 - closeness);
  }
}

void GranuleLists::AppendGaps(std::span<const uint32_t> granules, unsigned k,
                              BitWriter* out) const {
  out->Truncated(granules[0], num_granules_);
  for (size_t i = 1; i < granules.size(); ++i) {
    out->ExpGolomb(granules[i] - granules[i - 1] - 1, k);
  }
}

void GranuleLists::Append(std::span<const uint32_t> granules, BitWriter* out) const {
  assert(!granules.empty() && granules.back() < num_granules_);
  if (granules.size() < kLongList) return AppendGaps(granules, gap_bits_[granules.size()], out);
  const unsigned k = ChooseGapBits(granules);
  BitWriter first;
  first.Truncated(granules[0], num_granules_);
  uint64_t bits = first.num_bits();
  for (size_t i = 1; i < granules.size(); ++i) {
    bits += ExpGolombBits(granules[i] - granules[i - 1] - 1, k);
  }
  // Up to 1.5 times the size, a bitmap wins: it is read many times as fast.
  const bool is_bitmap = bits + bits / 2 >= num_granules_;
  out->Truncated(is_bitmap ? bitmap() : k, bitmap() + 1);
  if (is_bitmap) return AppendBitmap(granules, num_granules_, out);
  out->ExpGolomb(bits - MinGapBits(granules.size(), k), kLengthK);
  AppendGaps(granules, k, out);
}

bool GranuleLists::Skip(uint64_t count, BitReader* from) const noexcept {
  assert(count != 0 && count <= num_granules_);
  if (count >= kLongList) {
    const auto k = static_cast<unsigned>(from->Truncated(bitmap() + 1));
    if (k == bitmap()) {
      from->Skip(num_granules_);
    } else {
      const uint64_t more = from->ExpGolomb(kLengthK);
      from->Skip(MinGapBits(count, k) + more);
    }
    return from->ok();
  }
  from->Truncated(num_granules_);
  SkipGaps(count - 1, gap_bits_[count], from);
  return from->ok();
}

bool GranuleLists::Read(uint64_t count, BitReader from, uint64_t end,
                        uint64_t* words) const noexcept {
  assert(count != 0 && count <= num_granules_ && end <= num_granules_);
  unsigned k = count < kLongList ? gap_bits_[count] : 0;
  if (count >= kLongList) {
    k = static_cast<unsigned>(from.Truncated(bitmap() + 1));
    if (k == bitmap()) {
      BitReader after = from;
      after.Skip(num_granules_);
      if (!after.ok()) return false;
      OrBitmap(end, from, words);
      return true;
    }
    from.ExpGolomb(kLengthK);
  }
  uint64_t granule = from.Truncated(num_granules_);
  if (granule >= end) return from.ok();
  words[granule / 64] |= uint64_t{1} << (granule % 64);
  const auto set = [&](uint64_t gap) {
    granule += gap + 1;
    if (granule >= end) return false;
    words[granule / 64] |= uint64_t{1} << (granule % 64);
    return true;
  };
  if (k != 0) {
    ReadGaps(count - 1, k, &from, set);
  } else {
    ReadGapsAndRepeats(count - 1, &from, [&](uint64_t gap, uint64_t times) {
      if (times == 1) return set(gap);
      const uint64_t first = granule + 1;
      granule += times;
      if (first < end) SetBits(first, std::min(granule, end - 1), words);
      return granule < end;
    });
  }
  return granule < num_granules_ && from.ok();
}

void SetBits(uint64_t first, uint64_t last, uint64_t* words) noexcept {
  assert(first <= last);
  const uint64_t first_word = first / 64;
  const uint64_t last_word = last / 64;
  const uint64_t from_first = ~uint64_t{0} << (first % 64);
  const uint64_t to_last = ~uint64_t{0} >> (63 - last % 64);
  if (first_word == last_word) {
    words[first_word] |= from_first & to_last;
    return;
  }
  words[first_word] |= from_first;
  std::fill(words + first_word + 1, words + last_word, ~uint64_t{0});
  words[last_word] |= to_last;
}

}  // namespace blocksieve::internal
