#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>

#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/ribbon/hash.h"
#include "lib/ribbon/shape.h"

// Shared by the probe kernels of the ribbon: from a hash to its window of slots. A probe checks for
// every column that the parity of the window's bits under the row's coefficients equals the bit of
// the fingerprint.

namespace blocksieve::internal {

/// The lowest bits, by their number.
inline constexpr auto kColumnBits = [] {
  std::array<uint32_t, 33> bits{};
  for (uint32_t i = 0; i < bits.size(); ++i) {
    bits[i] = static_cast<uint32_t>((uint64_t{1} << i) - 1);
  }
  return bits;
}();

/// What PointFilter holds. Fields were checked against the size of the block when it was opened, so
/// that probes check nothing.
///
/// There are two widths: of narrow segments (or all, if their widths are equal) and of wide ones.
/// Segment i begins at address origin[w] + i * stride(w).
struct RibbonState {
  uintptr_t origin[2];  // origin[0] is the payload
  /// The address of the directory; of the only chunk, its octets and in the high half its
  /// multiplier.
  uint64_t directory_or_chunk;
  uint32_t num_chunks;       // >= 1
  uint32_t fast_segments;    // later segments are probed word by word: a window may reach the end
  uint32_t narrow_segments;  // later segments are wide: they have one more column
  uint8_t columns[2];
  uint8_t strides[2];  // 8 * columns

  BLOCKSIEVE_INLINE uint64_t stride(size_t w) const noexcept { return strides[w]; }
  /// A bit per column. From a table that all filters share, because computing it takes twice the
  /// instructions.
  BLOCKSIEVE_INLINE uint32_t in_use(size_t w) const noexcept { return kColumnBits[columns[w]]; }
  uint32_t max_in_use() const noexcept {
    return in_use(narrow_segments < (num_octets() + 7) / 8 ? 1 : 0);
  }
  /// @{
  /// REQUIRES: num_chunks == 1
  BLOCKSIEVE_INLINE uint32_t multiplier() const noexcept {
    return static_cast<uint32_t>(directory_or_chunk >> 32);
  }
  BLOCKSIEVE_INLINE uint32_t chunk_octets() const noexcept {
    return static_cast<uint32_t>(directory_or_chunk);
  }
  /// @}
  /// Entries of the chunks. REQUIRES: num_chunks > 1
  BLOCKSIEVE_INLINE const uint8_t* directory() const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the state is plain numbers
    return reinterpret_cast<const uint8_t*>(directory_or_chunk);
  }
  /// Base positions of groups of chunks. REQUIRES: num_chunks > kRibbonGroup
  BLOCKSIEVE_INLINE const uint8_t* bases() const noexcept {
    return directory() + 2 * (uint64_t{num_chunks} + 1);
  }
  /// Slots / 8. Divides, so it is for the ends of the filter: the directory follows the segments.
  uint64_t num_octets() const noexcept {
    if (num_chunks == 1) return chunk_octets();
    const uint64_t bytes = directory_or_chunk - origin[0];
    const uint64_t narrow_octets = uint64_t{narrow_segments} * 8;
    const uint64_t narrow_bytes = narrow_octets * columns[0];
    return bytes <= narrow_bytes ? bytes / columns[0]
                                 : narrow_octets + (bytes - narrow_bytes) / columns[1];
  }
  /// The last slot at which a row may start.
  uint64_t last_start() const noexcept { return num_octets() * kRibbonOctet - kRibbonFold; }
};

/// Forms of the directory. A kernel has separate entry points for each, with or without segments
/// of two widths ("mixed"): branches would cost registers and time, and looking up the width of a
/// segment takes a tenth of a probe.
enum class RibbonDirectory : uint8_t {
  kNone,   ///< One chunk only.
  kPlain,  ///< Entries without bases.
  kBased,  ///< Entries with bases.
};

struct RibbonWindow {
  const uint8_t* segment;  // the segment in which it starts
  uint64_t start;          // slot
  uint64_t coefficients;
  uint64_t hash;
  uint64_t stride;  // bytes of the segment, and distance to the next
  uint32_t in_use;  // a bit per column of the segment
};

struct RibbonChunk {
  uint64_t first_octet;
  uint32_t num_octets;
  uint32_t multiplier;
};

template <RibbonDirectory kDirectory>
BLOCKSIEVE_INLINE RibbonChunk ReadRibbonChunk(const RibbonState& ribbon, uint64_t hash) noexcept {
  if constexpr (kDirectory == RibbonDirectory::kNone) {
    return {0, ribbon.chunk_octets(), ribbon.multiplier()};
  } else {
    const uint64_t chunk = RibbonChunkOf(hash, ribbon.num_chunks);
    // Those of the chunk and of the next.
    const auto entries = LoadLittleEndian<uint32_t>(ribbon.directory() + chunk * 2);
    uint64_t first = entries & kRibbonEntryMask;
    if constexpr (kDirectory == RibbonDirectory::kBased) {
      const auto base = LoadLittleEndian<uint32_t>(ribbon.bases() + chunk / kRibbonGroup * 4);
      first = uint64_t{base} + ((entries - base) & kRibbonEntryMask);
    }
    return {first, ((entries >> 16) - entries) & kRibbonEntryMask, entries & 0xffff};
  }
}

/// The virtual slot minus kRibbonFold, which wraps around in the first slots. Arbitrary if the
/// directory is damaged.
BLOCKSIEVE_INLINE uint64_t RibbonStart(const RibbonChunk& chunk, uint64_t mixed) noexcept {
  return chunk.first_octet * kRibbonOctet +
         RibbonSlotInChunk(mixed, chunk.multiplier, chunk.num_octets) - kRibbonFold;
}

/// The window that starts at `start`; meaningful only if `start` is in the filter. Values that
/// depend on the width of the segment come from tables: compilers turn a condition into a branch,
/// which would be unpredictable.
template <bool kMixed>
BLOCKSIEVE_INLINE RibbonWindow RibbonWindowAt(const RibbonState& ribbon, uint64_t hash,
                                              uint64_t mixed, uint64_t start) noexcept {
  const uint64_t segment = start / kRibbonSegment;
  // In 32 bits, which start in the filter, or before it, where they are above all numbers.
  const size_t is_wide = kMixed ? static_cast<uint32_t>(segment) >= ribbon.narrow_segments : 0;
  RibbonWindow window;
  window.stride = ribbon.stride(is_wide);
  // An integer, because a pointer must not leave its array even if it is not used.
  window.segment =
      reinterpret_cast<const uint8_t*>(ribbon.origin[is_wide] + segment * window.stride);
  window.start = start;
  window.coefficients = RibbonCoefficients(mixed);
  window.hash = hash;
  window.in_use = ribbon.in_use(is_wide);
  return window;
}

/// The window of a hash, without a branch. At either edge of the filter, or if the directory is
/// damaged, IsFastWindow is false for it.
template <RibbonDirectory kDirectory, bool kMixed>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbon(const RibbonState& view, uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kDirectory>(view, hash);
  return RibbonWindowAt<kMixed>(view, hash, mixed, RibbonStart(chunk, mixed));
}

/// The window of any hash: folded at the low edge and clamped at the high edge, so that it is in
/// the filter even if the directory is damaged.
template <RibbonDirectory kDirectory>
BLOCKSIEVE_INLINE RibbonWindow LocateRibbonAnywhere(const RibbonState& view,
                                                    uint64_t hash) noexcept {
  const uint64_t mixed = RibbonMix(hash);
  const RibbonChunk chunk = ReadRibbonChunk<kDirectory>(view, hash);
  const auto start = static_cast<int64_t>(RibbonStart(chunk, mixed));
  const auto folded = static_cast<uint64_t>(start & ~(start >> 63));
  return RibbonWindowAt<true>(view, hash, mixed, std::min(folded, view.last_start()));
}

/// Prefetches both segments; with many columns they have more lines than those at the ends.
BLOCKSIEVE_INLINE void PrefetchRibbonWindow(const RibbonWindow& window) noexcept {
  const uint8_t* const last = window.segment + 2 * window.stride - 1;
  __builtin_prefetch(window.segment);
  __builtin_prefetch(last);
  for (const uint8_t* line = window.segment + 64; line < last; line += 64) {
    __builtin_prefetch(line);
  }
}

/// Whether the window lies in two whole segments that kernels may read in large pieces. Otherwise
/// use ProbeRibbonAnywhere.
BLOCKSIEVE_INLINE bool IsFastWindow(const RibbonState& view, const RibbonWindow& window) noexcept {
  return static_cast<uint32_t>(window.start / kRibbonSegment) < view.fast_segments;
}

/// The coefficients in the first and in the second segment.
BLOCKSIEVE_INLINE uint64_t FirstCoefficients(const RibbonWindow& window) noexcept {
  return window.coefficients << window.start % 64;
}
BLOCKSIEVE_INLINE uint64_t SecondCoefficients(const RibbonWindow& window) noexcept {
  return window.coefficients >> 1 >> (63 - window.start % 64);
}

/// Probes anywhere, also at the end of the filter. Takes the hash instead of the window, so that
/// kernels need not store their window in memory. Reads at most 7 bytes past the payload.
bool ProbeRibbonAnywhere(const RibbonState& view, uint64_t hash) noexcept;

/// The parities of the first columns for a hash: low bits of its number in a retrieval structure,
/// or arbitrary ones for other hashes. Reads past the payload like ProbeRibbonAnywhere. REQUIRES:
/// it has `num_columns`
uint32_t ReadRibbon(const RibbonState& view, uint64_t hash, uint32_t num_columns) noexcept;

/// Prefetches what ReadRibbon reads of few columns.
void PrefetchRibbon(const RibbonState& view, uint64_t hash) noexcept;

/// Number of bytes past the payload that a probe may read, with any content: the footer.
inline constexpr uint64_t kRibbonReadableTail = 11;

/// The view of a payload. The directory may be damaged. REQUIRES: CheckRibbonShape accepts the
/// shape.
RibbonState MakeRibbonState(const RibbonShape& shape, const uint8_t* payload) noexcept;

/// The entry points for a filter of this shape. A kernel has several, because branches on the
/// number of columns would cost registers and time. Filters with always-true chunks, which hardly
/// exist, use the scalar kernel, so that the others need not handle them. REQUIRES: `kernel` is
/// available.
const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept;

/// Entry points by directory, then mixed or not.
using RibbonOps = ProbeOps[3][2];

extern const ProbeOps kRibbonAlwaysTrueChunks;
extern const RibbonOps kRibbonScalar, kRibbonPopcnt;
extern const RibbonOps kRibbonAvx2By8, kRibbonAvx2By12, kRibbonAvx2By16, kRibbonAvx2By28;
extern const RibbonOps kRibbonAvx512By8, kRibbonAvx512By12, kRibbonAvx512By16, kRibbonAvx512By28;
extern const RibbonOps kRibbonNeon;

}  // namespace blocksieve::internal
