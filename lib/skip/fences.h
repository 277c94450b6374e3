#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"

// First and last key of each granule, prefix-compressed against the previous key, with a restart
// point at every 16th granule for random access.

namespace blocksieve::internal {

inline constexpr uint64_t kGranulesPerRestart = 16;

class FenceWriter {
 public:
  void Add(std::string_view first, std::string_view last);
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::string previous_;  // the last key of the previous granule
  uint64_t num_granules_ = 0;
};

/// A view; does not own the bytes.
class FenceReader {
 public:
  /// Checks all keys, so that Get need not. False if they are damaged.
  bool Open(ByteView bytes, uint64_t num_granules);

  /// Either may be null. REQUIRES: Open, granule < num_granules
  void Get(uint64_t granule, std::string* first, std::string* last) const;

  uint64_t memory_bytes() const noexcept { return restarts_.capacity() * sizeof(restarts_[0]); }

 private:
  ByteView bytes_;
  std::vector<uint64_t> restarts_;  // offsets of the restart points
};

}  // namespace blocksieve::internal
