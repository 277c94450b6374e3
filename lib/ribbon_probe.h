#pragma once

#include <algorithm>
#include <cstdint>

#include "blocksieve/filter_view.h"
#include "blocksieve/kernels.h"
#include "lib/coding.h"
#include "lib/ribbon_hash.h"
#include "lib/ribbon_layout.h"

// What the probe kernels of the ribbon share: from a hash to the window of slots that it is about.
// A probe asks whether in every column the parity of the window's bits under the row's
// coefficients is the fingerprint's.

namespace blocksieve::internal {

struct RibbonWindow {
  const uint8_t* segment;  // the one in which it starts
  uint64_t start;          // slot
  uint64_t coefficients;
  uint64_t hash;     // the low bits are the fingerprint
  uint64_t columns;  // of the segment: the next one is as many words away
};

/// A chunk's entry of the directory and the one behind it.
BLOCKSIEVE_INLINE const uint8_t* RibbonEntryAt(const RibbonView& ribbon, uint64_t chunk) noexcept {
  return ribbon.directory + chunk * 2;
}

BLOCKSIEVE_INLINE const uint8_t* RibbonBaseAt(const RibbonView& ribbon, uint64_t chunk) noexcept {
  return ribbon.bases + chunk / kRibbonGroup * 4;
}

/// Starts to fetch what LocateRibbon reads, unless the directory is so small that it is in the
/// first-level cache anyway.
BLOCKSIEVE_INLINE void PrefetchRibbonDirectory(const FilterView& view, uint64_t hash) noexcept {
  constexpr uint64_t kSmallDirectory = 4096;
  const RibbonView& ribbon = view.ribbon;
  if (ribbon.num_chunks <= kSmallDirectory) return;
  const uint64_t chunk = RibbonChunkOf(hash, ribbon.num_chunks);
  __builtin_prefetch(RibbonEntryAt(ribbon, chunk));
  __builtin_prefetch(RibbonBaseAt(ribbon, chunk));
}

struct RibbonChunk {
  uint64_t first_octet;
  uint32_t num_octets;
  uint32_t rotation;  // the low six bits
};

/// `kOneChunk`: the filter has one chunk only. Every kernel has entry points of their own for
/// those, which need no directory.
template <bool kOneChunk>
BLOCKSIEVE_INLINE RibbonChunk ReadRibbonChunk(const RibbonView& ribbon, uint64_t hash) noexcept {
  if constexpr (kOneChunk) {
    return {0, static_cast<uint32_t>(ribbon.num_octets), ribbon.rotation};
  } else {
    const uint64_t chunk = RibbonChunkOf(hash, ribbon.num_chunks);
    const auto entries = LoadLittleEndian<uint32_t>(RibbonEntryAt(ribbon, chunk));
    const auto base = LoadLittleEndian<uint32_t>(RibbonBaseAt(ribbon, chunk));
    return {uint64_t{base} + ((entries - base) & kRibbonEntryMask),
            ((entries >> 16) - entries) & kRibbonEntryMask, entries >> 10};
  }
}

/// The virtual slot, less kRibbonFold: in the first few modulo 2^64, and with a damaged directory
/// anywhere.
BLOCKSIEVE_INLINE uint64_t RibbonStart(const RibbonChunk& chunk, uint64_t mixed) noexcept {
  return chunk.first_octet * kRibbonOctet +
         RibbonSlotInChunk(mixed, chunk.rotation, chunk.num_octets) - kRibbonFold;
}

/// The window that begins at `start`; meaningful only if that is in the filter.
BLOCKSIEVE_INLINE RibbonWindow RibbonWindowAt(const FilterView& view, uint64_t hash, uint64_t mixed,
                                              uint64_t start) noexcept {
  const RibbonView& ribbon = view.ribbon;
  const uint64_t segment = start / kRibbonSegment;
  // A difference and its sign in place of a condition: compilers make a branch of that, which would
  // be taken at random.
  const auto wide_before = static_cast<int64_t>(segment - ribbon.narrow_segments);
  const int64_t narrow = wide_before >> 63;  // -1 if it is
  const uint64_t words = segment * ribbon.columns + static_cast<uint64_t>(wide_before & ~narrow);
  RibbonWindow window;
  // An integer, since a pointer must not leave its array even if it is not used.
  window.segment =
      reinterpret_cast<const uint8_t*>(reinterpret_cast<uintptr_t>(view.data) + words * 8);
  window.start = start;
  window.coefficients = RibbonCoefficients(mixed);
  window.hash = hash;
  window.columns = ribbon.columns + 1 + static_cast<uint64_t>(narrow);
  return window;
}

/// Finds the window, without a branch. At either edge of the filter, or if the directory is
/// damaged, `start` is such that IsFastWindow says no.
template <bool kOneChunk>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbon(const FilterView& view, uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kOneChunk>(view.ribbon, hash);
  return RibbonWindowAt(view, hash, mixed, RibbonStart(chunk, mixed));
}

/// The window, wherever it is: folded at the low edge, clamped at the high one, so that a damaged
/// directory leads to some place in the filter.
template <bool kOneChunk>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbonAnywhere(const FilterView& view,
                                                    uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kOneChunk>(view.ribbon, hash);
  const auto start = static_cast<int64_t>(RibbonStart(chunk, mixed));
  const auto folded = static_cast<uint64_t>(start & ~(start >> 63));
  return RibbonWindowAt(view, hash, mixed, std::min(folded, view.ribbon.last_start));
}

/// Both segments; with many columns they are more than the two lines at the ends.
BLOCKSIEVE_INLINE void PrefetchRibbonWindow(const RibbonWindow& window) noexcept {
  const uint8_t* const last = window.segment + 16 * window.columns - 1;
  __builtin_prefetch(window.segment);
  __builtin_prefetch(last);
  for (const uint8_t* line = window.segment + 64; line < last; line += 64) {
    __builtin_prefetch(line);
  }
}

/// Whether the window lies in two whole segments that a kernel may read in large pieces. If not,
/// ProbeRibbonAnywhere answers.
BLOCKSIEVE_INLINE bool IsFastWindow(const FilterView& view, const RibbonWindow& window) noexcept {
  return window.start / kRibbonSegment < view.ribbon.fast_segments;
}

/// The coefficients that fall into the first segment, and into the second.
BLOCKSIEVE_INLINE uint64_t FirstCoefficients(const RibbonWindow& window) noexcept {
  return window.coefficients << window.start % 64;
}
BLOCKSIEVE_INLINE uint64_t SecondCoefficients(const RibbonWindow& window) noexcept {
  return window.coefficients >> 1 >> (63 - window.start % 64);
}

/// Any probe, also at the end of the filter. Takes the hash, not the window, so that a kernel can
/// jump here without having put its window into memory. Reads at most 7 bytes behind the payload.
bool ProbeRibbonAnywhere(const FilterView& view, uint64_t hash) noexcept;

/// The entry points for a filter of this shape: a kernel has several, since branches on the number
/// of columns would cost registers as well as time. Filters with open chunks, which hardly exist,
/// are probed by the scalar one: the others need not know. REQUIRES: `kernel` is available.
const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept;

extern const ProbeOps kRibbonScalar, kRibbonScalarOneChunk, kRibbonScalarWithOpenChunks;
extern const ProbeOps kRibbonAvx2By8, kRibbonAvx2By8OneChunk;
extern const ProbeOps kRibbonAvx2By16, kRibbonAvx2By16OneChunk;
extern const ProbeOps kRibbonAvx2By28, kRibbonAvx2By28OneChunk;
extern const ProbeOps kRibbonAvx512By8, kRibbonAvx512By8OneChunk;
extern const ProbeOps kRibbonAvx512By16, kRibbonAvx512By16OneChunk;
extern const ProbeOps kRibbonAvx512By32, kRibbonAvx512By32OneChunk;
extern const ProbeOps kRibbonNeon, kRibbonNeonOneChunk;

}  // namespace blocksieve::internal
