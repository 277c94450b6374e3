#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/skip_index.h"
#include "lib/column/sort_key.h"
#include "lib/predicate/pruning_step.h"

// Intervals that contain the values of each granule ("min/max index"): the one from minimum to
// maximum or, if the largest gap between values is over half of that, one on each side of the gap.
// So a sentinel ("never", 1970, -999) hides nothing. NaN and infinities are flags, and leave the
// intervals alone. Ends are rounded outwards: numbers by less than 1 % of the length of their
// interval, bytes by what follows the first three that differ. They take a few bytes each, and
// ranges select hardly more granules. An interval of a single value is exact, unless its bytes are
// long or the granule has two, so that inequalities can prune it. lib/FORMAT.md specifies the
// encoding.
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

/// Significant bits of the length of an interval of numbers; 8: rounded by 1/128 at most.
inline constexpr int kNumberSpanBits = 8;

/// A low number that lies much closer to the one before it than to its high one is rounded less, to
/// this many bits of that difference, as sizes from 40 to 5 * 10^6 begin near 40. It takes a byte,
/// so only from the second granule in a row on, and if it gains this many bits: uniform numbers,
/// which gain nothing, then have 3 % larger bounds, instead of 11 %.
inline constexpr int kFineLowBits = 7;
inline constexpr int kMinFineBits = 7;
inline constexpr int kMaxFineBits = 31;

/// A gap of numbers counts if it is this many times the distance to the granule before. Granules of
/// few numbers that ascend have gaps of over half as well, and ranges rarely lie in them.
inline constexpr uint64_t kMinStepsOfGap = 2;

/// A second interval takes two bytes of difference at most: it narrows from granule to granule if
/// the same value occurs again.
inline constexpr int kSecondLowBits = 14;

/// The OrderedBits of -infinity, infinity and NaN, which are flags.
inline constexpr std::array<uint64_t, 3> kSpecialFloats = {
    0x000f'ffff'ffff'ffff, 0xfff0'0000'0000'0000, 0xfff8'0000'0000'0000};

/// The kind of the bounds of numbers: bits rounded off, plus 1, and flags.
inline constexpr uint8_t kCutMask = 0x3f;
inline constexpr uint8_t kHasSecond = 0x40;
inline constexpr uint8_t kHasExtras = 0x80;

/// Bytes of a bound after the prefix that both share: the one that differs, and two more.
inline constexpr size_t kBytesPastPrefix = 3;

/// Bytes of the only value of one of two intervals after those that it shares with its reference.
inline constexpr size_t kBytesOfOneValue = 8;

enum BytesBounds : uint8_t { kNoBounds = 0, kOneValue = 1, kTwoBounds = 2, kLowerBound = 3 };
inline constexpr int kSecondKindShift = 2;  // of the second interval, beside the first one's

/// Maps small differences of either sign to small numbers: 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
inline uint64_t ZigZag(uint64_t difference) noexcept {
  return difference << 1 ^ (uint64_t{0} - (difference >> 63));
}
inline uint64_t UnZigZag(uint64_t number) noexcept {
  return number >> 1 ^ (uint64_t{0} - (number & 1));
}

/// Distance of two ends, for gaps of values that all begin with the same `shared` bytes.
inline uint64_t Distance(uint64_t low, uint64_t high, size_t) noexcept { return high - low; }
uint64_t Distance(std::string_view low, std::string_view high, size_t shared) noexcept;

/// At most two intervals that contain the values of a granule. A value outside of both closes the
/// smaller of the two gaps. A gap of over half of all is wider than any other, even while only some
/// values are known, so it stays open: no sorting is needed to find it.
template <class End, class View>
class GapFinder {
 public:
  struct Interval {
    End low{};
    End high{};
  };

  void Add(View value) {
    for (size_t i = 0; i < count_; ++i) {
      if (value >= intervals_[i].low && value <= intervals_[i].high) return;
    }
    AddOutside(value);
  }

  /// Closes the gap unless it is over half of the whole and `counts(lower, upper)`. Returns the
  /// intervals, ascending; none without values.
  template <class Counts>
  std::span<const Interval> Finish(Counts counts);

  void Clear() noexcept { count_ = 0; }
  const std::array<Interval, 2>& room() const noexcept { return intervals_; }

 private:
  void AddOutside(View value);

  std::array<Interval, 2> intervals_;
  size_t count_ = 0;
};

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
    uint64_t bytes = bytes_.capacity() + (lows_.capacity() + highs_.capacity()) * sizeof(uint64_t);
    for (const auto& [low, high] : texts_.room()) bytes += low.capacity() + high.capacity();
    return bytes;
  }

  /// Average number of intervals that contain a value without being known to have it, over the
  /// minima of all intervals. Unknown for bytes: infinity. O(granules * log(granules)).
  double MeanOverlap() const;

 private:
  using Numbers = GapFinder<uint64_t, uint64_t>;
  using Texts = GapFinder<std::string, std::string_view>;

  void CloseNumbers();
  void CloseBytes();
  BytesBounds AppendBytes(const Texts::Interval& interval, bool is_only, std::string* reference);

  ValueType type_;
  Numbers numbers_;
  Texts texts_;
  uint8_t specials_ = 0;  // bit i: kSpecialFloats[i] occurs

  std::vector<uint64_t> lows_;  // of intervals of numbers
  std::vector<uint64_t> highs_;

  uint64_t num_granules_ = 0;
  std::array<uint64_t, 2> previous_{};  // low bounds before in the block, of first and of second
                                        // intervals
  uint64_t last_low_ = 0;               // low bound of the first interval before, in any block
  bool was_close_ = false;              // its distance to the one before it was small
  std::string bytes_;

  // Bounds of bytes.
  uint64_t num_bounds_ = 0;
  std::string prefix_;     // reference of the first granule of a block
  std::string reference_;  // the first interval's low bound before, or the prefix
  std::string second_;     // the second interval's low bound before, or nothing
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

  /// SortHeads at or below all values and at or above; the first is larger without values.
  std::pair<uint64_t, uint64_t> Heads(uint64_t num_granules) const;

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
