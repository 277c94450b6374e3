#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column_index.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/value.h"

// Least and greatest value of each granule. They are rounded outwards, by less than a hundredth of
// the distance between them, so that they take a few bytes each: what ranges select changes that
// little. The bounds of a granule with one value only are exact (but for long bytes), so that its
// rows can be said not to differ from it. lib/FORMAT.md has the encoding.

namespace blocksieve::internal {

/// Decoding can begin at every so many granules: one word of a GranuleSet.
inline constexpr uint64_t kGranulesPerBoundsBlock = 64;

/// Bytes of a bound are cut here at the latest.
inline constexpr size_t kMaxBoundBytes = 64;

/// Numbers as unsigned integers of the same order; NaN is one value, the greatest.
/// REQUIRES: not bytes
uint64_t OrderedBits(const Value& number) noexcept;

/// Collects the values of one granule after the other, of one column.
class BoundsWriter {
 public:
  explicit BoundsWriter(ValueType type) noexcept : type_(type) {}

  /// REQUIRES: the column's type
  void Add(const Value& value);

  /// Ends a granule. If not `wanted`, it gets no bounds and reads as one without values.
  void CloseGranule(bool wanted);

  const std::string& bytes() const noexcept { return bytes_; }

 private:
  void CloseNumbers();
  void CloseBytes();

  ValueType type_;
  bool has_values_ = false;
  uint64_t least_ = 0;
  uint64_t greatest_ = 0;
  std::string least_bytes_;
  std::string greatest_bytes_;

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
  /// Checks everything, so that the others can be sure. False if the bytes are damaged.
  bool Open(ByteView bytes, ValueType type, uint64_t num_granules);

  /// As in ColumnIndex; granules without bounds count as having no values.
  void KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const;
  void KeepDiffering(const Value& value, GranuleSet* candidates) const;

  /// Removes the candidates whose bounds hold none of `values`, and returns for each of the others
  /// which ones they hold. All granules are decoded once, however many the values.
  /// REQUIRES: fewer than 2^32 values of the column's type, ascending.
  std::vector<ValueRun> KeepOverlappingAny(std::span<const Value> values,
                                           GranuleSet* candidates) const;

  uint64_t memory_bytes() const noexcept { return blocks_.capacity() * sizeof(blocks_[0]); }

 private:
  ByteView bytes_;
  ValueType type_ = ValueType::kBytes;
  std::vector<uint64_t> blocks_;  // where each block begins
};

}  // namespace blocksieve::internal
