#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "blocksieve/rocksdb/range_filter.h"

namespace blocksieve::rocksdb_plugin {

/// What became of one question to the filter of a file.
enum class RangeOutcome : uint8_t {
  kNo,
  kMayMatch,
  kBeyond,    // the range goes on behind the partition
  kNoFilter,  // the file has a filter for points only
  kNoBound,   // RocksDB gave no range: no upper bound, or ReadOptions that do not compare prefixes
  kEmptyBegin,  // the key "" looks like the prefix of all keys
  kUntrusted,   // RocksDB did not pass the self-test
};
inline constexpr int kNumRangeOutcomes = 7;

/// Counts it, for the process. Says once, in the log, if ranges are asked for in vain.
void CountRange(RangeOutcome outcome) noexcept;

/// All counts so far.
RangeFilterCounts CountedRanges() noexcept;

/// While one of these lives, what its thread asks is counted here, and not for the process.
class RangesCountedApart {
 public:
  RangesCountedApart() noexcept;
  RangesCountedApart(const RangesCountedApart&) = delete;
  RangesCountedApart& operator=(const RangesCountedApart&) = delete;
  ~RangesCountedApart();

  uint64_t count(RangeOutcome outcome) const noexcept {
    return counts_[static_cast<size_t>(outcome)];
  }

 private:
  friend void CountRange(RangeOutcome outcome) noexcept;

  std::array<uint64_t, kNumRangeOutcomes> counts_{};
};

}  // namespace blocksieve::rocksdb_plugin
