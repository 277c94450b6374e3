#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/coding.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_info.h"
#include "lib/block/filter_view.h"
#include "lib/ribbon/hash.h"

// A ribbon as a map (a "retrieval structure", or "static function"): it gives back the number that
// belongs to a hash, in hardly more bits than the number has, because it does not know the hashes.
// For any other hash it gives some number. The equations are those of the filter, with the numbers
// on their right-hand sides in place of fingerprints (Dillinger, Huebschle-Schneider, Sanders and
// Walzer, 2022). lib/FORMAT.md specifies the bytes.

namespace blocksieve::internal {

/// Bytes that must follow a map, whatever they are, because reading it may touch them.
inline constexpr size_t kRetrievalTail = 8;

/// Makes a map, hash by hash, in little memory: 8 bytes for each. The same bytes on every kernel.
class RetrievalWriter {
 public:
  /// A map of no hashes takes no bytes and cannot be opened. REQUIRES: 1 <= columns <=
  /// kMaxRibbonColumns. This and the others throw std::bad_alloc.
  RetrievalWriter(uint64_t num_hashes, uint32_t columns, Kernel kernel);
  ~RetrievalWriter();

  /// REQUIRES: hashes ascend and differ; result < 2^columns
  void Add(uint64_t hash, uint32_t result);

  /// False, with nothing appended, if no map is found, which has not been seen of hashes.
  /// REQUIRES: num_hashes were added, and there are some
  bool Append(std::string* out);

 private:
  struct Parts;
  void CloseChunk();

  std::unique_ptr<Parts> parts_;  // none without hashes
};

/// A view; the bytes belong to somebody else.
class Retrieval {
 public:
  /// Takes a map off the front of the decoder. False if it is damaged, or less than kRetrievalTail
  /// bytes follow it.
  bool Open(Decoder* from);

  /// Below 2^columns(). Whatever the bytes are, nothing but the map and its tail is read.
  /// REQUIRES: Open succeeded
  uint32_t Get(uint64_t hash) const noexcept;

  uint32_t columns() const noexcept { return columns_; }

 private:
  uint32_t columns_ = 0;
  FilterView view_{};
};

}  // namespace blocksieve::internal
