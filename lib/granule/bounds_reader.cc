#include <algorithm>
#include <limits>

#include "lib/base/coding.h"
#include "lib/granule/bounds.h"

namespace blocksieve::internal {
namespace {

template <class IsBelow, class IsNotAbove>
ValueIndexRange IndexRangeOf(std::span<const Value> values, IsBelow is_below,
                             IsNotAbove is_not_above) {
  const auto begin = std::partition_point(values.begin(), values.end(), is_below);
  const auto end = std::partition_point(begin, values.end(), is_not_above);
  return {static_cast<uint32_t>(begin - values.begin()),
          static_cast<uint32_t>(end - values.begin())};
}

/// Iterates over the bounds in a block.
class NumberCursor {
 public:
  explicit NumberCursor(ByteView block) noexcept : decoder_(block) {}

  /// False after the last granule.
  bool Next() noexcept {
    const uint8_t first = decoder_.Fixed<uint8_t>();
    has_values_ = first != 0;
    if (has_values_) {
      cut_bits_ = first - 1U;
      if (cut_bits_ > 63) return false;
      const uint64_t low = (low_ >> cut_bits_) + UnZigZag(decoder_.Varint());
      const uint64_t high = low + decoder_.Varint();
      const uint64_t limit = std::numeric_limits<uint64_t>::max() >> cut_bits_;
      if (low > limit || high > limit || high < low) return false;
      low_ = low << cut_bits_;
      high_ = high << cut_bits_ | ((uint64_t{1} << cut_bits_) - 1);
    }
    return decoder_.ok();
  }
  ByteView rest() const noexcept { return decoder_.rest(); }

  bool Overlaps(const ValueRange& range) const noexcept {
    if (!has_values_) return false;
    if (range.low) {
      const uint64_t low = OrderedBits(*range.low);
      if (range.includes_low ? high_ < low : high_ <= low) return false;
    }
    if (range.high) {
      const uint64_t high = OrderedBits(*range.high);
      if (range.includes_high ? low_ > high : low_ >= high) return false;
    }
    return true;
  }

  bool Differs(const Value& value) const noexcept {
    if (!has_values_) return false;
    // Rounded bounds differ, so equal bounds are exact.
    return low_ != high_ || low_ != OrderedBits(value);
  }

  GranuleBounds Bounds() const {
    if (!has_values_) return {};
    return {true, SortKey(low_), SortKey(high_)};
  }

  ValueIndexRange Within(std::span<const Value> values) const noexcept {
    return has_values_ ? IndexRangeOf(
                             values, [this](const Value& v) { return OrderedBits(v) < low_; },
                             [this](const Value& v) { return OrderedBits(v) <= high_; })
                       : ValueIndexRange();
  }

 private:
  Decoder decoder_;
  bool has_values_ = false;
  unsigned cut_bits_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

class BytesCursor {
 public:
  explicit BytesCursor(ByteView block) noexcept : decoder_(block) {}

  bool Next() {
    kind_ = decoder_.Fixed<uint8_t>();
    if (kind_ > kLowerBound) return false;
    if (kind_ != kNoBounds && !ReadAfter(low_, &low_)) return false;
    if (kind_ == kTwoBounds && !ReadAfter(low_, &high_)) return false;
    return decoder_.ok();
  }
  ByteView rest() const noexcept { return decoder_.rest(); }

  bool Overlaps(const ValueRange& range) const noexcept {
    if (kind_ == kNoBounds) return false;
    if (range.low && kind_ != kLowerBound) {
      const int order = high().compare(range.low->bytes());
      if (range.includes_low ? order < 0 : order <= 0) return false;
    }
    if (range.high) {
      const int order = std::string_view(low_).compare(range.high->bytes());
      if (range.includes_high ? order > 0 : order >= 0) return false;
    }
    return true;
  }

  bool Differs(const Value& value) const noexcept {
    return kind_ == kTwoBounds || kind_ == kLowerBound ||
           (kind_ == kOneValue && low_ != value.bytes());
  }

  GranuleBounds Bounds() const {
    if (kind_ == kNoBounds) return {};
    if (kind_ == kLowerBound) return {true, low_, std::nullopt};
    return {true, low_, std::string(high())};
  }

  ValueIndexRange Within(std::span<const Value> values) const noexcept {
    if (kind_ == kNoBounds) return {};
    return IndexRangeOf(
        values, [this](const Value& v) { return v.bytes() < low_; },
        [this](const Value& v) { return kind_ == kLowerBound || v.bytes() <= high(); });
  }

 private:
  std::string_view high() const noexcept { return kind_ == kOneValue ? low_ : high_; }

  bool ReadAfter(const std::string& previous, std::string* bytes) {
    const uint64_t shared = decoder_.Varint();
    if (shared > previous.size()) return false;
    const ByteView further = decoder_.Bytes(decoder_.Varint());
    // Without a limit, damaged bounds could make a reader copy megabytes for each granule.
    if (shared + further.size() > kMaxBoundBytes) return false;
    if (bytes != &previous) {
      bytes->assign(previous, 0, static_cast<size_t>(shared));
    } else {
      bytes->resize(static_cast<size_t>(shared));
    }
    bytes->append(AsText(further));
    return true;
  }

  Decoder decoder_;
  uint8_t kind_ = kNoBounds;
  std::string low_;
  std::string high_;
};

template <class Cursor>
bool FindBlocks(ByteView bytes, uint64_t num_granules, std::vector<uint64_t>* blocks) {
  ByteView rest = bytes;
  for (uint64_t granule = 0; granule < num_granules;) {
    blocks->push_back(bytes.size() - rest.size());
    Cursor cursor(rest);
    for (uint64_t i = 0; i < kGranulesPerBoundsBlock && granule < num_granules; ++i, ++granule) {
      if (!cursor.Next()) return false;
    }
    rest = cursor.rest();
  }
  return rest.empty();
}

/// Removes the candidates for which `is_kept(granule, cursor)` is false. Calls it for all granules
/// up to the last candidate of each block with candidates.
template <class Cursor, class IsKept>
void Remove(ByteView bytes, const std::vector<uint64_t>& blocks, GranuleSet* candidates,
            IsKept is_kept) {
  const std::span<uint64_t> words = candidates->words();
  for (size_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    Cursor cursor(bytes.subspan(static_cast<size_t>(blocks[w])));
    uint64_t kept = words[w];
    for (unsigned i = 0; i < 64 && words[w] >> i != 0; ++i) {
      if (!cursor.Next()) break;  // unreachable after Open
      if (!is_kept(64 * w + i, cursor)) kept &= ~(uint64_t{1} << i);
    }
    words[w] = kept;
  }
}

template <class IsKept>
void RemoveOfType(ValueType type, ByteView bytes, const std::vector<uint64_t>& blocks,
                  GranuleSet* candidates, IsKept is_kept) {
  if (type == ValueType::kBytes) {
    Remove<BytesCursor>(bytes, blocks, candidates, is_kept);
  } else {
    Remove<NumberCursor>(bytes, blocks, candidates, is_kept);
  }
}

}  // namespace

bool BoundsReader::Open(ByteView bytes, ValueType type, uint64_t num_granules) {
  bytes_ = bytes;
  type_ = type;
  return type == ValueType::kBytes ? FindBlocks<BytesCursor>(bytes, num_granules, &blocks_)
                                   : FindBlocks<NumberCursor>(bytes, num_granules, &blocks_);
}

void BoundsReader::PruneByRange(const ValueRange& range, GranuleSet* candidates) const {
  RemoveOfType(type_, bytes_, blocks_, candidates,
               [&range](size_t, const auto& cursor) { return cursor.Overlaps(range); });
}

void BoundsReader::PruneByInequality(const Value& value, GranuleSet* candidates) const {
  RemoveOfType(type_, bytes_, blocks_, candidates,
               [&value](size_t, const auto& cursor) { return cursor.Differs(value); });
}

std::vector<GranuleBounds> BoundsReader::All(uint64_t num_granules) const {
  std::vector<GranuleBounds> all(static_cast<size_t>(num_granules));
  GranuleSet granules = GranuleSet::All(static_cast<size_t>(num_granules));
  RemoveOfType(type_, bytes_, blocks_, &granules, [&all](size_t granule, const auto& cursor) {
    if (granule < all.size()) all[granule] = cursor.Bounds();
    return true;
  });
  return all;
}

std::vector<ValueIndexRange> BoundsReader::PruneByRanges(std::span<const Value> values,
                                                         GranuleSet* candidates) const {
  std::vector<ValueIndexRange> ranges(candidates->num_granules());
  RemoveOfType(type_, bytes_, blocks_, candidates, [&](size_t granule, const auto& cursor) {
    if (!candidates->Has(granule)) return false;
    ranges[granule] = cursor.Within(values);
    return ranges[granule].begin != ranges[granule].end;
  });
  return ranges;
}

}  // namespace blocksieve::internal
