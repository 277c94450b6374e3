#pragma once

#include <cstdint>

#include "lib/base/kernels.h"
#include "lib/block/kind.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {

extern const KindEntry kRibbonKind;  // block.cc

/// Bytes that BuildRibbon may write for `num_keys` keys: the payload and working space.
uint64_t RibbonCapacity(const Layout& layout, uint64_t num_keys) noexcept;

/// Memory that BuildRibbon takes beside `hashes` and its output. It frees the hashes as it goes;
/// the total never exceeds theirs by more than this.
uint64_t RibbonWorkingBytes(const Layout& layout, uint64_t num_keys) noexcept;

struct RibbonBuild {
  RibbonShape shape;
  /// Chunks that could not be solved; every key in them "may match". None, unless the hashes are
  /// not hashes.
  uint64_t always_true_chunks = 0;

  // For tests and measurements.
  uint64_t seeds_tried = 0;
  uint64_t eliminations = 0;
  uint64_t widenings = 0;
};

/// Writes the payload of a ribbon filter with all hashes to `out`. Consumes the hashes if `keep` is
/// false. The same hashes, in whatever order, give the same bytes on every kernel.
/// `layout` says how many columns there shall be, and for what share of the keys one more.
/// REQUIRES: hashes->size() > 0; RibbonCapacity bytes at `out`, all zero. Throws std::bad_alloc.
RibbonBuild BuildRibbon(HashList* hashes, bool keep, const Layout& layout, Kernel kernel,
                        uint8_t* out);

}  // namespace blocksieve::internal
