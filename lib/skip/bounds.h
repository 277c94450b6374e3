#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/skip_index.h"
#include "lib/column/sort_key.h"
#include "lib/predicate/pruning_step.h"

// Minimum and maximum value of each granule ("min/max index"). Both are rounded outwards: numbers
// by less than 1 % of the distance between them, bytes by what follows the first three that differ.
// They take a few bytes each, and ranges select hardly more granules. The bounds of a granule with
// a single value are exact (unless its bytes are long), so that inequalities can prune it.
// lib/FORMAT.md specifies the encoding.
//
// Long bytes are cut after what they share with the low bound before them, so that a long common
// prefix, of the whole file or of adjacent granules, costs next to nothing and hides nothing.

namespace blocksieve::internal {

/// Interval of decoding entry points: one word of a GranuleSet.
inline constexpr uint64_t kGranulesPerBoundsBlock = 64;

/// Maximum length of a bound, and of the prefix of a column.
inline constexpr size_t kMaxBoundBytes = 4096;

/// A low bound has at most this many bytes after those that it shares with its reference, ...
inline constexpr size_t kMaxFurtherBytes = 64;

/// ... and a credit, which grows by this for each granule, up to a maximum: a long bound now and
/// then is worth its space. The average stays below 80 bytes for a granule, whatever the values.
inline constexpr size_t kCreditPerGranule = 16;
inline constexpr size_t kMaxCredit = kMaxBoundBytes;

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

  /// Whether the bounds cannot tell granules apart: of each, they know only the first bytes that
  /// all of its values share, which are also the first bytes of the others.
  bool SaysNothing() const noexcept { return num_bounds_ > 1 && all_alike_; }

  /// The encoded bounds. REQUIRES: no granule is open
  std::string Finish() const;

  uint64_t memory_bytes() const noexcept {
    return bytes_.capacity() + min_bytes_.capacity() + max_bytes_.capacity() +
           (lows_.capacity() + highs_.capacity()) * sizeof(uint64_t);
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
  std::string bytes_;

  // Bounds of bytes.
  uint64_t num_bounds_ = 0;
  std::string prefix_;     // reference of the first granule of a block
  std::string reference_;  // the low bound before, or the prefix
  std::string longest_;    // low bound
  size_t credit_ = kMaxCredit;
  bool all_alike_ = true;
};

/// A view; does not own the bytes.
class BoundsReader {
 public:
  /// Checks all bytes, so that the other functions need not. False if they are damaged.
  bool Open(ByteView bytes, ValueType type, uint64_t num_granules);

  /// As PruneBy::kRange, kAny and kDiffers. Granules without bounds have no values. Decode each
  /// granule once, whatever the number of values. REQUIRES: values of the column's type, ascending
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const;
  void PruneByValues(std::span<const Value> values, GranuleSet* candidates) const;
  void PruneByOthers(std::span<const Value> values, GranuleSet* candidates) const;

  /// Bounds of all granules.
  std::vector<GranuleBounds> All(uint64_t num_granules) const;

  uint64_t memory_bytes() const noexcept { return blocks_.capacity() * sizeof(blocks_[0]); }

 private:
  template <class IsKept>
  void Remove(GranuleSet* candidates, IsKept is_kept) const;

  ByteView bytes_;  // after the prefix
  ByteView prefix_;
  ValueType type_ = ValueType::kBytes;
  std::vector<uint64_t> blocks_;  // offsets
};

}  // namespace blocksieve::internal
