#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "lib/column/sort_key.h"
#include "lib/predicate/column_index.h"

// Minimum and maximum value of each granule ("min/max index"). Both are rounded outwards by less
// than 1 % of the distance between them: they take a few bytes each, and ranges select hardly more
// granules. The bounds of a granule with a single value are exact (unless its bytes are long), so
// that inequalities can prune it. lib/FORMAT.md specifies the encoding.

namespace blocksieve::internal {

/// Interval of decoding entry points: one word of a GranuleSet.
inline constexpr uint64_t kGranulesPerBoundsBlock = 64;

/// Maximum length of a bound.
inline constexpr size_t kMaxBoundBytes = 64;

/// Significant bits of the distance between number bounds; 8: rounded by 1/128 at most.
inline constexpr int kNumberSpanBits = 8;

/// Bytes of a bound after the prefix that both share: the one that differs, and two more.
inline constexpr size_t kBytesPastPrefix = 3;

enum BytesBounds : uint8_t { kNoBounds = 0, kOneValue = 1, kTwoBounds = 2, kLowerBound = 3 };

/// Maps small differences of either sign to small numbers: 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
inline uint64_t ZigZag(uint64_t difference) noexcept {
  return difference << 1 ^ (uint64_t{0} - (difference >> 63));
}
inline uint64_t UnZigZag(uint64_t number) noexcept {
  return number >> 1 ^ (uint64_t{0} - (number & 1));
}

/// Collects the values of one column, granule by granule.
class BoundsWriter {
 public:
  explicit BoundsWriter(ValueType type) noexcept : type_(type) {}

  /// REQUIRES: a value of the column's type
  void Add(const Value& value);

  /// Ends a granule. If not `wanted`, it gets no bounds, like a granule without values.
  void CloseGranule(bool wanted);

  const std::string& bytes() const noexcept { return bytes_; }

  uint64_t memory_bytes() const noexcept {
    return bytes_.capacity() + (lows_.capacity() + highs_.capacity()) * sizeof(uint64_t);
  }

  /// Average number of granules whose bounds contain a value, over the minima of all granules.
  /// Unknown for bytes: infinity. O(granules * log(granules)).
  double MeanOverlap() const;

 private:
  void CloseNumbers();
  void CloseBytes();

  ValueType type_;
  bool has_values_ = false;
  uint64_t min_ = 0;
  uint64_t max_ = 0;
  std::string min_bytes_;
  std::string max_bytes_;

  std::vector<uint64_t> lows_;  // of granules with number bounds
  std::vector<uint64_t> highs_;

  uint64_t num_granules_ = 0;
  uint64_t previous_ = 0;  // lower bound of the previous granule in the block
  std::string previous_bytes_;
  std::string bytes_;
};

/// The values with indexes `begin` <= i < `end` of a sorted list.
struct ValueIndexRange {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool Has(size_t value) const noexcept { return begin <= value && value < end; }
};

/// A view; does not own the bytes.
class BoundsReader {
 public:
  /// Checks all bytes, so that the other functions need not. False if they are damaged.
  bool Open(ByteView bytes, ValueType type, uint64_t num_granules);

  /// As in ColumnIndex. Granules without bounds have no values.
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const;
  void PruneByInequality(const Value& value, GranuleSet* candidates) const;

  /// Removes candidates whose bounds contain none of `values`, and returns the values within the
  /// bounds of each other candidate. Decodes each granule once, whatever the number of values.
  /// REQUIRES: fewer than 2^32 values of the column's type, ascending.
  std::vector<ValueIndexRange> PruneByRanges(std::span<const Value> values,
                                             GranuleSet* candidates) const;

  /// Bounds of all granules.
  std::vector<GranuleBounds> All(uint64_t num_granules) const;

  uint64_t memory_bytes() const noexcept { return blocks_.capacity() * sizeof(blocks_[0]); }

 private:
  ByteView bytes_;
  ValueType type_ = ValueType::kBytes;
  std::vector<uint64_t> blocks_;  // offsets
};

}  // namespace blocksieve::internal
