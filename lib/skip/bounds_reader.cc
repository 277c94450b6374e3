// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>

#include "lib/base/coding.h"
#include "lib/skip/bounds.h"

namespace blocksieve::internal {
namespace {

struct NumberInterval {
  uint64_t low = 0;
  uint64_t high = 0;

  int CompareLow(const Value& value) const noexcept { return Compare(low, OrderedBits(value)); }
  int CompareHigh(const Value& value) const noexcept { return Compare(high, OrderedBits(value)); }
  /// Rounded ends differ, so equal ones are exact.
  bool HasOneValue() const noexcept { return low == high; }

  uint64_t LowHead() const noexcept { return low; }
  uint64_t HighHead() const noexcept { return high; }
  std::string Low() const { return SortKey(low); }
  std::optional<std::string> High() const { return SortKey(high); }

 private:
  static int Compare(uint64_t a, uint64_t b) noexcept { return (a > b) - (a < b); }
};

/// Iterates over the bounds in a block.
class NumberCursor {
 public:
  NumberCursor(ByteView block, ByteView) noexcept : decoder_(block) {}

  /// False after the last granule, and if its bounds are damaged.
  BLOCKSIEVE_INLINE bool Next() noexcept {
    const auto kind = decoder_.Fixed<uint8_t>();
    has_one_ = kind != 0 && kind <= kCutMask;
    if (!has_one_) return ReadOthers(kind);
    return ReadInterval(kind - 1U, 0, &first_) && decoder_.ok();
  }
  ByteView rest() const noexcept { return decoder_.rest(); }

  /// Whether the granule has first() alone, and not intervals().
  bool HasOne() const noexcept { return has_one_; }
  const NumberInterval& first() const noexcept { return first_; }
  std::span<const NumberInterval> intervals() const noexcept {
    return std::span(intervals_).first(count_);
  }

 private:
  __attribute__((noinline)) bool ReadOthers(uint8_t kind) noexcept {
    count_ = 0;
    const auto extras = (kind & kHasExtras) != 0 ? decoder_.Fixed<uint8_t>() : uint8_t{0};
    if (const unsigned cut = kind & kCutMask; cut != 0) {
      if (!ReadInterval(cut - 1, extras >> kSpecialFloats.size(), &first_)) return false;
      intervals_[count_++] = first_;
    }
    if ((kind & kHasSecond) != 0) {
      if (second_.low == 0) second_ = first_;
      if (!ReadInterval(decoder_.Fixed<uint8_t>(), 0, &second_)) return false;
      intervals_[count_++] = second_;
    }
    for (size_t i = 0; i < kSpecialFloats.size(); ++i) {
      if ((extras >> i & 1) != 0) intervals_[count_++] = {kSpecialFloats[i], kSpecialFloats[i]};
    }
    return decoder_.ok();
  }

  /// Replaces an interval by the next one of its place.
  BLOCKSIEVE_INLINE bool ReadInterval(unsigned cut, unsigned fine,
                                      NumberInterval* interval) noexcept {
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
    if (cut > 63 || fine > cut) return false;
    const uint64_t low = (interval->low >> (cut - fine)) + UnZigZag(decoder_.Varint());
    const uint64_t span = decoder_.Varint();
    if (low > kMax >> (cut - fine) || span > kMax >> cut) return false;
    interval->low = low << (cut - fine);
    interval->high = interval->low + (span << cut | ((uint64_t{1} << cut) - 1));
    if (interval->high < interval->low) interval->high = kMax;
    return true;
  }

  Decoder decoder_;
  NumberInterval first_;
  NumberInterval second_;
  bool has_one_ = false;
  std::array<NumberInterval, 2 + kSpecialFloats.size()> intervals_;
  size_t count_ = 0;
};

/// Bounds of bytes; the high one refers to the low one and to the block: nothing is copied.
struct BytesInterval {
  BytesBounds kind = kNoBounds;
  std::string low;
  size_t high_shared = 0;  // bytes of `low` that begin the high bound
  ByteView high_further;

  int CompareLow(const Value& value) const noexcept { return low.compare(value.bytes()); }
  int CompareHigh(const Value& value) const noexcept {
    const std::string_view bytes = value.bytes();
    if (kind == kLowerBound) return 1;
    if (kind == kOneValue) return low.compare(bytes);
    const int order =
        std::string_view(low).substr(0, high_shared).compare(bytes.substr(0, high_shared));
    return order != 0 ? order : AsText(high_further).compare(bytes.substr(high_shared));
  }
  bool HasOneValue() const noexcept { return kind == kOneValue; }

  uint64_t LowHead() const noexcept { return SortHead(low); }
  uint64_t HighHead() const {
    const std::optional<std::string> high = High();
    return high ? SortHead(*high) : std::numeric_limits<uint64_t>::max();
  }
  const std::string& Low() const { return low; }
  std::optional<std::string> High() const {
    if (kind == kLowerBound) return std::nullopt;
    if (kind == kOneValue) return low;
    return low.substr(0, high_shared).append(AsText(high_further));
  }
};

class BytesCursor {
 public:
  BytesCursor(ByteView block, ByteView prefix) : decoder_(block) {
    intervals_[0].low = AsText(prefix);
  }

  bool Next() {
    const auto kind = decoder_.Fixed<uint8_t>();
    const unsigned second = kind >> kSecondKindShift;
    count_ = (kind != 0) + (second != 0);
    if (kind == kNoBounds) return decoder_.ok();
    if (second > kLowerBound || !Read(kind & kLowerBound, &intervals_[0])) return false;
    if (second == 0) return true;
    if (intervals_[1].low.empty()) intervals_[1].low = intervals_[0].low;
    return Read(second, &intervals_[1]);
  }
  ByteView rest() const noexcept { return decoder_.rest(); }

  bool HasOne() const noexcept { return count_ == 1; }
  const BytesInterval& first() const noexcept { return intervals_[0]; }
  std::span<const BytesInterval> intervals() const noexcept {
    return std::span(intervals_).first(count_);
  }

 private:
  /// Replaces an interval by the next one of its place. False if that is damaged.
  bool Read(unsigned kind, BytesInterval* interval) {
    ByteView further;
    interval->kind = static_cast<BytesBounds>(kind);
    const uint64_t shared = ReadBound(interval->low, &further);
    if (kind == kNoBounds || !decoder_.ok()) return false;
    interval->low.resize(static_cast<size_t>(shared));
    interval->low.append(AsText(further));
    if (kind == kTwoBounds) {
      interval->high_shared =
          static_cast<size_t>(ReadBound(interval->low, &interval->high_further));
    }
    return decoder_.ok();
  }

  /// Returns how many bytes of `reference` a bound has, and those that follow. A limit keeps
  /// damaged bounds from making a reader copy megabytes for each granule.
  uint64_t ReadBound(std::string_view reference, ByteView* further) noexcept {
    const uint64_t shared = decoder_.Varint();
    *further = decoder_.Bytes(decoder_.Varint());
    if (shared > reference.size() || shared + further->size() > kMaxBoundBytes) {
      decoder_.Bytes(~uint64_t{0});  // fails
    }
    return shared;
  }

  Decoder decoder_;
  std::array<BytesInterval, 2> intervals_;
  size_t count_ = 0;
};

/// Whether `holds` for an interval of a granule. Nearly all have one.
template <class Cursor, class Holds>
BLOCKSIEVE_INLINE bool HasAny(const Cursor& cursor, Holds holds) {
  if (cursor.HasOne()) return holds(cursor.first());
  return std::ranges::any_of(cursor.intervals(), holds);
}

template <class Interval>
BLOCKSIEVE_INLINE bool Overlaps(const Interval& interval, const ValueRange& range) noexcept {
  if (range.low) {
    const int order = interval.CompareHigh(*range.low);
    if (range.includes_low ? order < 0 : order <= 0) return false;
  }
  if (range.high) {
    const int order = interval.CompareLow(*range.high);
    if (range.includes_high ? order > 0 : order >= 0) return false;
  }
  return true;
}

/// Whether an interval contains one of `values`, which ascend.
template <class Interval>
BLOCKSIEVE_INLINE bool ContainsAny(const Interval& interval,
                                   std::span<const Value> values) noexcept {
  const auto first = std::partition_point(values.begin(), values.end(), [&](const Value& value) {
    return interval.CompareLow(value) > 0;
  });
  return first != values.end() && interval.CompareHigh(*first) >= 0;
}

template <class Cursor>
bool FindBlocks(ByteView bytes, ByteView prefix, uint64_t num_granules,
                std::vector<uint64_t>* blocks) {
  ByteView rest = bytes;
  for (uint64_t granule = 0; granule < num_granules;) {
    blocks->push_back(bytes.size() - rest.size());
    Cursor cursor(rest, prefix);
    for (uint64_t i = 0; i < kGranulesPerBoundsBlock && granule < num_granules; ++i, ++granule) {
      if (!cursor.Next()) return false;
    }
    rest = cursor.rest();
  }
  return rest.empty();
}

/// Removes the candidates of a word for which `is_kept(granule, cursor)` is false. Calls it for
/// bytes of candidates only, and for all numbers up to them: a branch takes longer than comparing.
template <class Cursor, class IsKept>
uint64_t Kept(Cursor cursor, size_t first_granule, uint64_t word, IsKept is_kept) {
  uint64_t kept = word;
  for (unsigned i = 0; i < 64 && word >> i != 0; ++i) {
    if (!cursor.Next()) break;  // unreachable after Open
    if (std::is_same_v<Cursor, BytesCursor> && (word >> i & 1) == 0) continue;
    if (!is_kept(first_granule + i, cursor)) kept &= ~(uint64_t{1} << i);
  }
  return kept;
}

}  // namespace

bool BoundsReader::Open(ByteView bytes, ValueType type, uint64_t num_granules) {
  type_ = type;
  bytes_ = bytes;
  if (type != ValueType::kBytes) {
    return FindBlocks<NumberCursor>(bytes_, prefix_, num_granules, &blocks_);
  }
  Decoder decoder(bytes);
  prefix_ = decoder.Bytes(decoder.Varint());
  bytes_ = decoder.rest();
  return decoder.ok() && prefix_.size() <= kMaxBoundBytes &&
         FindBlocks<BytesCursor>(bytes_, prefix_, num_granules, &blocks_);
}

template <class IsKept>
void BoundsReader::Remove(GranuleSet* candidates, IsKept is_kept) const {
  const std::span<uint64_t> words = candidates->words();
  for (size_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    const ByteView block = bytes_.subspan(static_cast<size_t>(blocks_[w]));
    words[w] = type_ == ValueType::kBytes
                   ? Kept(BytesCursor(block, prefix_), 64 * w, words[w], is_kept)
                   : Kept(NumberCursor(block, prefix_), 64 * w, words[w], is_kept);
  }
}

void BoundsReader::PruneByRange(const ValueRange& range, GranuleSet* candidates) const {
  Remove(candidates, [&](size_t, const auto& cursor) {
    return HasAny(cursor, [&](const auto& one) { return Overlaps(one, range); });
  });
}

void BoundsReader::PruneByValues(std::span<const Value> values, GranuleSet* candidates) const {
  Remove(candidates, [&](size_t, const auto& cursor) {
    return HasAny(cursor, [&](const auto& one) { return ContainsAny(one, values); });
  });
}

void BoundsReader::PruneByOthers(std::span<const Value> values, GranuleSet* candidates) const {
  Remove(candidates, [&](size_t, const auto& cursor) {
    return HasAny(
        cursor, [&](const auto& one) { return !(one.HasOneValue() && ContainsAny(one, values)); });
  });
}

std::pair<uint64_t, uint64_t> BoundsReader::Heads(uint64_t num_granules) const {
  uint64_t low = std::numeric_limits<uint64_t>::max();
  uint64_t high = 0;
  GranuleSet granules = GranuleSet::All(static_cast<size_t>(num_granules));
  Remove(&granules, [&](size_t, const auto& cursor) {
    return HasAny(cursor, [&](const auto& one) {
      low = std::min(low, one.LowHead());
      high = std::max(high, one.HighHead());
      return false;
    });
  });
  return {low, high};
}

std::vector<GranuleBounds> BoundsReader::All(uint64_t num_granules) const {
  std::vector<GranuleBounds> all(static_cast<size_t>(num_granules));
  GranuleSet granules = GranuleSet::All(all.size());
  Remove(&granules, [&](size_t granule, const auto& cursor) {
    GranuleBounds& bounds = all[granule];
    HasAny(cursor, [&](const auto& one) {
      if (!bounds.has_values || one.Low() < bounds.low) bounds.low = one.Low();
      const std::optional<std::string> high = one.High();
      if (!bounds.has_values || !high || (bounds.high && *bounds.high < *high)) bounds.high = high;
      bounds.has_values = true;
      return false;
    });
    return true;
  });
  return all;
}

}  // namespace blocksieve::internal
