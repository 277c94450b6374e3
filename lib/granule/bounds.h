#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "lib/column/sort_key.h"
#include "lib/predicate/column_index.h"

// Least and greatest value of each granule. Both are rounded outwards, by less than a hundredth of
// the distance between them, which leaves a few bytes each and hardly changes what ranges select.
// The bounds of a granule with a single value are exact, unless its bytes are long, so the index
// knows that no row differs from the value. lib/FORMAT.md has the encoding; the first byte of a
// granule is
//   numbers: 0 no values | c + 1: bounds are cut by c low bits, then
//            zigzag varint of (low >> c) - (previous low >> c) | varint of (high >> c) - (low >> c)
//   bytes:   a BytesBounds, then the low bound after the previous one, the high one after the low:
//            shared bytes (varint) | further bytes (varint) | these

namespace blocksieve::internal {

/// Decoding can begin at multiples of this many granules: one word of a GranuleSet.
inline constexpr uint64_t kGranulesPerBoundsBlock = 64;

/// Bounds have at most this many bytes.
inline constexpr size_t kMaxBoundBytes = 64;

/// Bits that the distance between the bounds of numbers keeps; 8: rounded by 1/128 at most.
inline constexpr int kNumberSpanBits = 8;

/// Bytes that bounds keep beyond the prefix they share: where they differ, and two more.
inline constexpr size_t kBytesPastPrefix = 3;

enum BytesBounds : uint8_t { kNoBounds = 0, kOneValue = 1, kTwoBounds = 2, kLowerBound = 3 };

/// Small differences of either sign as small numbers: 0, -1, 1, -2, ...
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

  /// REQUIRES: the column's type
  void Add(const Value& value);

  /// Ends a granule. If not `wanted`, it gets no bounds and looks like one without values.
  void CloseGranule(bool wanted);

  const std::string& bytes() const noexcept { return bytes_; }

  uint64_t memory_bytes() const noexcept {
    return bytes_.capacity() + (lows_.capacity() + highs_.capacity()) * sizeof(uint64_t);
  }

  /// How many granules' bounds a value lies within, on average: a value that some granule begins
  /// with. Of bytes it is not known, and infinite. O(granules * log(granules)).
  double MeanOverlap() const;

 private:
  void CloseNumbers();
  void CloseBytes();

  ValueType type_;
  bool has_values_ = false;
  uint64_t least_ = 0;
  uint64_t greatest_ = 0;
  std::string least_bytes_;
  std::string greatest_bytes_;

  std::vector<uint64_t> lows_;  // of numbers, of the granules that have bounds
  std::vector<uint64_t> highs_;

  uint64_t num_granules_ = 0;
  uint64_t previous_ = 0;  // lower bound of the granule before, within a block
  std::string previous_bytes_;
  std::string bytes_;
};

/// The values from number `begin` to before number `end` of an ordered list.
struct ValueRun {
  uint32_t begin = 0;
  uint32_t end = 0;

  bool Has(size_t value) const noexcept { return begin <= value && value < end; }
};

/// A view; the bytes belong to somebody else.
class BoundsReader {
 public:
  /// Checks everything, so that the other functions need not. False if the bytes are damaged.
  bool Open(ByteView bytes, ValueType type, uint64_t num_granules);

  /// As in ColumnIndex; granules without bounds count as having no values.
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const;
  void PruneByInequality(const Value& value, GranuleSet* candidates) const;

  /// Removes the candidates whose bounds hold none of `values`, and returns for each of the others
  /// which ones they hold. All granules are decoded once, however many the values.
  /// REQUIRES: fewer than 2^32 values of the column's type, ascending.
  std::vector<ValueRun> PruneByRanges(std::span<const Value> values, GranuleSet* candidates) const;

  /// Those of all granules.
  std::vector<GranuleBounds> All(uint64_t num_granules) const;

  uint64_t memory_bytes() const noexcept { return blocks_.capacity() * sizeof(blocks_[0]); }

 private:
  ByteView bytes_;
  ValueType type_ = ValueType::kBytes;
  std::vector<uint64_t> blocks_;  // where each block begins
};

}  // namespace blocksieve::internal
