#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "integration/toylsm/base/options.h"

namespace blocksieve::toylsm {

/// What is counted, by level.
enum class Count : uint8_t {
  kDataBlocksFromDisk,
  kDataBlocksFromCache,
  kFilterBlocksFromDisk,
  kFilterBlocksFromCache,
  kBytesFromDisk,         ///< as stored, of everything
  kBytesFromCache,        ///< of blocks, uncompressed
  kBlockIndexBytes,       ///< footers and block indexes, read when files are opened
  kSkipIndexBytes,        ///< read by a file's first scan
  kFilterNegatives,       ///< a data block that was not read
  kFilterTruePositives,   ///< a data block that had the key
  kFilterFalsePositives,  ///< a data block that was read in vain
  kFiltersUnreadable,     ///< the data block was read without asking
  kRangeNegatives,        ///< a sorted run of which an iterator over a range read no data block
  kRangePositives,        ///< one of which it had to
  kNumCounts
};

/// Sums over all threads. Thread-safe; numbers that are read while others count may not fit
/// together.
class Counters {
 public:
  void Add(Count what, int level, uint64_t number = 1) {
    counts_[Index(what, level)].fetch_add(number, std::memory_order_relaxed);
  }
  uint64_t Get(Count what, int level) const {
    return counts_[Index(what, level)].load(std::memory_order_relaxed);
  }
  /// Over all levels.
  uint64_t Get(Count what) const {
    uint64_t sum = 0;
    for (int level = 0; level < kNumLevels; ++level) sum += Get(what, level);
    return sum;
  }
  void Reset() {
    for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  }

 private:
  static size_t Index(Count what, int level) {
    return static_cast<size_t>(what) * kNumLevels + static_cast<size_t>(level);
  }
  std::array<std::atomic<uint64_t>, static_cast<size_t>(Count::kNumCounts) * kNumLevels> counts_{};
};

}  // namespace blocksieve::toylsm
