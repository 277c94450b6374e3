#pragma once

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

/// While it exists, its thread counts apart.
class CountApart {
 public:
  CountApart() noexcept;
  ~CountApart();
  CountApart(const CountApart&) = delete;
  CountApart& operator=(const CountApart&) = delete;

  RangeFilterCounts counts() const noexcept;

 private:
  friend void CountRange(RangeOutcome outcome) noexcept;
  uint64_t counts_[kNumRangeOutcomes] = {};
};

}  // namespace blocksieve::rocksdb_plugin
