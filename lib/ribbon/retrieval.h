#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/coding.h"
#include "lib/ribbon/hash.h"
#include "lib/ribbon/probe.h"

// A ribbon as a map (a "retrieval structure", or "static function"): it returns the number of a
// hash, in hardly more bits than the number has, because it does not store the hashes. For other
// hashes it returns an arbitrary number. The equations are those of the filter, with numbers on
// their right-hand sides instead of fingerprints (Dillinger, Huebschle-Schneider, Sanders and
// Walzer, 2022). lib/FORMAT.md specifies the bytes.

namespace blocksieve::internal {

/// Number of readable bytes that must follow a map, with any content.
inline constexpr size_t kRetrievalTail = 8;

/// Builds a map in 8 bytes of memory per hash.
class RetrievalWriter {
 public:
  /// A map without hashes takes no bytes and cannot be opened. All functions throw std::bad_alloc.
  /// REQUIRES: 1 <= columns <= kMaxRibbonColumns
  RetrievalWriter(uint64_t num_hashes, uint32_t columns);
  ~RetrievalWriter();

  /// Adds a hash. REQUIRES: hashes are ascending and distinct; result < 2^columns
  void Add(uint64_t hash, uint32_t result);

  /// Appends the map. False, without a change, if none is found, which has never happened with real
  /// hashes. REQUIRES: num_hashes were added, num_hashes > 0
  bool Append(std::string* out);

 private:
  struct Impl;
  void CloseChunk();

  std::unique_ptr<Impl> impl_;  // null without hashes
};

/// A view of a map, which does not own the bytes.
class Retrieval {
 public:
  /// Decodes a map from the front. False if it is damaged, or fewer than kRetrievalTail bytes
  /// follow.
  bool Open(Decoder* from);

  /// The number of a hash, below 2^columns(). Never reads outside the map and its tail, even if the
  /// map is damaged. REQUIRES: Open succeeded
  uint32_t Get(uint64_t hash) const noexcept { return GetLow(hash, columns_); }

  /// The lowest bits of Get. REQUIRES: num_bits <= columns()
  uint32_t GetLow(uint64_t hash, uint32_t num_bits) const noexcept {
    return ReadRibbon(state_, hash, num_bits);
  }

  /// Prefetches what GetLow reads of few bits.
  void Prefetch(uint64_t hash) const noexcept { PrefetchRibbon(state_, hash); }

  uint32_t columns() const noexcept { return columns_; }

 private:
  uint32_t columns_ = 0;
  RibbonState state_{};
};

}  // namespace blocksieve::internal
