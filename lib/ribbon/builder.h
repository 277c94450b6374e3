#pragma once

#include <cstdint>
#include <memory>

#include "blocksieve/kernels.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {

/// Bytes that BuildRibbon may write for `num_keys` keys: the payload and working space.
uint64_t RibbonCapacity(const Layout& layout, uint64_t num_keys) noexcept;

/// Memory that BuildRibbon takes beside `hashes` and its output. It frees the hashes as it goes;
/// the total never exceeds theirs by more than this.
uint64_t RibbonWorkingBytes(const Layout& layout, uint64_t num_keys) noexcept;

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
/// `layout` says how many columns there shall be, and for what share of the keys one more.
/// REQUIRES: hashes->size() > 0; RibbonCapacity bytes at `out`, all zero. Throws std::bad_alloc.
RibbonBuild BuildRibbon(HashList* hashes, bool keep, const Layout& layout, Kernel kernel,
                        uint8_t* out);

/// Writes the payload of a ribbon that gives back numbers, hash by hash, in little memory: 8 bytes
/// for each. The same hashes and numbers give the same bytes on every kernel.
class RibbonMapBuilder {
 public:
  /// REQUIRES: num_hashes > 0, a layout of whole columns, RibbonCapacity bytes at `out`, all zero.
  /// This and Add throw std::bad_alloc.
  RibbonMapBuilder(uint64_t num_hashes, const Layout& layout, Kernel kernel, uint8_t* out);
  RibbonMapBuilder(RibbonMapBuilder&&) noexcept;
  ~RibbonMapBuilder();

  /// REQUIRES: hashes ascend and differ; `result` has no more bits than there are columns
  void Add(uint64_t hash, uint32_t result);

  /// If there are open chunks, numbers are lost. REQUIRES: num_hashes were added
  RibbonBuild Finish();

 private:
  struct Parts;
  void CloseChunk(bool last);

  std::unique_ptr<Parts> parts_;
};

}  // namespace blocksieve::internal
