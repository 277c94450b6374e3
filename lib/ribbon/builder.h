#pragma once

#include <cstdint>
#include <span>

#include "blocksieve/internal/hash_list.h"
#include "blocksieve/kernels.h"
#include "lib/ribbon/layout.h"

namespace blocksieve::internal {

/// How many columns a ribbon filter shall have: `columns`, and for a share of the keys one more.
struct RibbonTarget {
  uint32_t columns = 0;   ///< 1 ... kMaxRibbonColumns.
  double wide_share = 0;  ///< In [0, 1).
};

/// Bytes that BuildRibbon may write for `num_keys` keys: the payload and working space.
uint64_t RibbonCapacity(const RibbonTarget& target, uint64_t num_keys) noexcept;

/// The shape that is to be expected.
RibbonShape ExpectedRibbonShape(const RibbonTarget& target, uint64_t num_keys) noexcept;

/// The payload that is to be expected; within 1 % or a few bytes of the actual one.
uint64_t ExpectedRibbonPayload(const RibbonTarget& target, uint64_t num_keys) noexcept;

/// Memory that BuildRibbon takes beside `hashes` and its output. It frees the hashes as it goes;
/// the total never exceeds theirs by more than this.
uint64_t RibbonWorkingBytes(const RibbonTarget& target, uint64_t num_keys) noexcept;

struct RibbonBuild {
  RibbonShape shape;
  /// Chunks that could not be solved; every key in them "may match". None, unless the hashes are
  /// not hashes.
  uint64_t open_chunks = 0;

  // For tests and measurements.
  uint64_t seeds_tried = 0;
  uint64_t eliminations = 0;
  uint64_t widenings = 0;
};

/// Writes the payload of a ribbon filter with all hashes to `out`. Consumes the hashes if `keep` is
/// false. The same hashes, in whatever order, give the same bytes on every kernel.
/// REQUIRES: hashes->size() > 0; RibbonCapacity bytes at `out`, all zero. Throws std::bad_alloc.
RibbonBuild BuildRibbon(HashList* hashes, bool keep, const RibbonTarget& target, Kernel kernel,
                        uint8_t* out);

}  // namespace blocksieve::internal
