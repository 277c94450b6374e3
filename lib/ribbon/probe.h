#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_view.h"
#include "lib/ribbon/hash.h"
#include "lib/ribbon/shape.h"

// What the probe kernels of the ribbon share: from a hash to the window of slots that it is about.
// A probe asks whether in every column the parity of the window's bits under the row's
// coefficients is the fingerprint's.

namespace blocksieve::internal {

/// What there is besides segments.
enum class RibbonDirectory : uint8_t {
  kNone,   ///< One chunk only.
  kPlain,  ///< Entries without bases.
  kBased,
};

/// A kernel has entry points of their own for each of these: branches would cost registers as well
/// as time, and looking up what depends on the width of a segment takes a tenth of a probe.
struct RibbonForm {
  RibbonDirectory directory;
  bool mixed;  ///< There are narrow and wide segments.
};

struct RibbonWindow {
  const uint8_t* segment;  // the one in which it starts
  uint64_t start;          // slot
  uint64_t coefficients;
  uint64_t hash;
  uint64_t stride;  // bytes of the segment: the next one is as far away
  uint32_t in_use;  // a bit per column of the segment
};

/// A chunk's entry of the directory and the one behind it.
BLOCKSIEVE_INLINE const uint8_t* RibbonEntryAt(const RibbonView& ribbon, uint64_t chunk) noexcept {
  return ribbon.directory + chunk * 2;
}

BLOCKSIEVE_INLINE const uint8_t* RibbonBaseAt(const RibbonView& ribbon, uint64_t chunk) noexcept {
  return ribbon.bases + chunk / kRibbonGroup * 4;
}

struct RibbonChunk {
  uint64_t first_octet;
  uint32_t num_octets;
  uint32_t multiplier;
};

template <RibbonDirectory kDirectory>
BLOCKSIEVE_INLINE RibbonChunk ReadRibbonChunk(const RibbonView& ribbon, uint64_t hash) noexcept {
  if constexpr (kDirectory == RibbonDirectory::kNone) {
    return {0, static_cast<uint32_t>(ribbon.num_octets), ribbon.multiplier};
  } else {
    const uint64_t chunk = RibbonChunkOf(hash, ribbon.num_chunks);
    const auto entries = LoadLittleEndian<uint32_t>(RibbonEntryAt(ribbon, chunk));
    uint64_t first = entries & kRibbonEntryMask;
    if constexpr (kDirectory == RibbonDirectory::kBased) {
      const auto base = LoadLittleEndian<uint32_t>(RibbonBaseAt(ribbon, chunk));
      first = uint64_t{base} + ((entries - base) & kRibbonEntryMask);
    }
    return {first, ((entries >> 16) - entries) & kRibbonEntryMask, entries & 0xffff};
  }
}

/// The virtual slot, less kRibbonFold: in the first few modulo 2^64, and with a damaged directory
/// anywhere.
BLOCKSIEVE_INLINE uint64_t RibbonStart(const RibbonChunk& chunk, uint64_t mixed) noexcept {
  return chunk.first_octet * kRibbonOctet +
         RibbonSlotInChunk(mixed, chunk.multiplier, chunk.num_octets) - kRibbonFold;
}

/// The window that begins at `start`; meaningful only if that is in the filter. What depends on the
/// width of the segment is looked up: compilers make a branch of a condition, and that would be
/// taken at random.
template <bool kMixed>
BLOCKSIEVE_INLINE RibbonWindow RibbonWindowAt(const FilterView& view, uint64_t hash, uint64_t mixed,
                                              uint64_t start) noexcept {
  const RibbonView& ribbon = view.ribbon;
  const uint64_t segment = start / kRibbonSegment;
  const size_t is_wide = kMixed ? segment >= ribbon.narrow_segments : 0;
  RibbonWindow window;
  window.stride = ribbon.stride[is_wide];
  // An integer, since a pointer must not leave its array even if it is not used.
  window.segment =
      reinterpret_cast<const uint8_t*>(ribbon.origin[is_wide] + segment * window.stride);
  window.start = start;
  window.coefficients = RibbonCoefficients(mixed);
  window.hash = hash;
  window.in_use = ribbon.in_use[is_wide];
  return window;
}

/// Finds the window, without a branch. At either edge of the filter, or if the directory is
/// damaged, `start` is such that IsFastWindow says no.
template <RibbonForm kForm>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbon(const FilterView& view, uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kForm.directory>(view.ribbon, hash);
  return RibbonWindowAt<kForm.mixed>(view, hash, mixed, RibbonStart(chunk, mixed));
}

/// The window, wherever it is: folded at the low edge, clamped at the high one, so that a damaged
/// directory leads to some place in the filter.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbonAnywhere(const FilterView& view,
                                                    uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kDirectory>(view.ribbon, hash);
  const auto start = static_cast<int64_t>(RibbonStart(chunk, mixed));
  const auto folded = static_cast<uint64_t>(start & ~(start >> 63));
  return RibbonWindowAt<true>(view, hash, mixed, std::min(folded, view.ribbon.last_start));
}

/// Both segments; with many columns they are more than the two lines at the ends.
BLOCKSIEVE_INLINE void PrefetchRibbonWindow(const RibbonWindow& window) noexcept {
  const uint8_t* const last = window.segment + 2 * window.stride - 1;
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

/// What the columns give for the hash: the number that the builder was given, of a ribbon of
/// numbers; any number for other hashes. Reads behind the payload as ProbeRibbonAnywhere does.
uint32_t ReadRibbon(const FilterView& view, uint64_t hash) noexcept;

/// Bytes behind the payload that a probe may read, whatever they are: the footer has them.
inline constexpr uint64_t kRibbonReadableTail = 11;

/// REQUIRES: CheckRibbonShape accepts. What the directory says is not trusted, and need not be.
RibbonView MakeRibbonView(const RibbonShape& shape, const uint8_t* payload) noexcept;

/// The entry points for a filter of this shape: a kernel has several, since branches on the number
/// of columns would cost registers as well as time. Filters with open chunks, which hardly exist,
/// are probed by the scalar one: the others need not know. REQUIRES: `kernel` is available.
const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept;

/// Entry points for each RibbonForm: by directory, then mixed or not.
using RibbonOps = ProbeOps[3][2];

extern const ProbeOps kRibbonAlwaysTrueChunks;
extern const RibbonOps kRibbonScalar, kRibbonPopcnt;
extern const RibbonOps kRibbonAvx2By8, kRibbonAvx2By12, kRibbonAvx2By16, kRibbonAvx2By28;
extern const RibbonOps kRibbonAvx512By8, kRibbonAvx512By12, kRibbonAvx512By16, kRibbonAvx512By28;
extern const RibbonOps kRibbonNeon;

}  // namespace blocksieve::internal
