// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <type_traits>

#include "lib/base/coding.h"
#include "lib/skip/bounds.h"

namespace blocksieve::internal {
namespace {

/// Iterates over the bounds in a block.
class NumberCursor {
 public:
  NumberCursor(ByteView block, ByteView) noexcept : decoder_(block) {}

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

  GranuleBounds Bounds() const {
    if (!has_values_) return {};
    return {true, SortKey(low_), SortKey(high_)};
  }

  bool has_values() const noexcept { return has_values_; }
  /// Rounded bounds differ, so equal bounds are exact.
  bool HasOneValue() const noexcept { return has_values_ && low_ == high_; }
  bool IsAbove(const Value& value) const noexcept { return OrderedBits(value) < low_; }
  bool IsBelow(const Value& value) const noexcept { return OrderedBits(value) > high_; }

 private:
  Decoder decoder_;
  bool has_values_ = false;
  unsigned cut_bits_ = 0;
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

class BytesCursor {
 public:
  BytesCursor(ByteView block, ByteView prefix) : decoder_(block), low_(AsText(prefix)) {}

  bool Next() {
    kind_ = decoder_.Fixed<uint8_t>();
    if (kind_ > kLowerBound) return false;
    if (kind_ == kNoBounds) return decoder_.ok();
    ByteView further;
    const uint64_t shared = ReadBound(&further);
    if (!decoder_.ok()) return false;
    low_.resize(static_cast<size_t>(shared));
    low_.append(AsText(further));
    if (kind_ == kTwoBounds) high_shared_ = static_cast<size_t>(ReadBound(&high_further_));
    return decoder_.ok();
  }
  ByteView rest() const noexcept { return decoder_.rest(); }

  bool Overlaps(const ValueRange& range) const noexcept {
    if (kind_ == kNoBounds) return false;
    if (range.low && kind_ != kLowerBound) {
      const int order = CompareHigh(range.low->bytes());
      if (range.includes_low ? order < 0 : order <= 0) return false;
    }
    if (range.high) {
      const int order = std::string_view(low_).compare(range.high->bytes());
      if (range.includes_high ? order > 0 : order >= 0) return false;
    }
    return true;
  }

  GranuleBounds Bounds() const {
    if (kind_ == kNoBounds) return {};
    if (kind_ == kLowerBound) return {true, low_, std::nullopt};
    if (kind_ == kOneValue) return {true, low_, low_};
    return {true, low_, low_.substr(0, high_shared_).append(AsText(high_further_))};
  }

  bool has_values() const noexcept { return kind_ != kNoBounds; }
  bool HasOneValue() const noexcept { return kind_ == kOneValue; }
  bool IsAbove(const Value& value) const noexcept { return value.bytes() < low_; }
  bool IsBelow(const Value& value) const noexcept {
    return kind_ != kLowerBound && CompareHigh(value.bytes()) < 0;
  }

 private:
  /// Returns how many bytes of the low bound before it a bound has, and those that follow. A limit
  /// keeps damaged bounds from making a reader copy megabytes for each granule.
  uint64_t ReadBound(ByteView* further) noexcept {
    const uint64_t shared = decoder_.Varint();
    *further = decoder_.Bytes(decoder_.Varint());
    if (shared > low_.size() || shared + further->size() > kMaxBoundBytes) {
      decoder_.Bytes(~uint64_t{0});  // fails
    }
    return shared;
  }

  /// The high bound compared with `bytes`, in two pieces: nothing is copied.
  int CompareHigh(std::string_view bytes) const noexcept {
    if (kind_ == kOneValue) return std::string_view(low_).compare(bytes);
    const int order =
        std::string_view(low_).substr(0, high_shared_).compare(bytes.substr(0, high_shared_));
    return order != 0 ? order : AsText(high_further_).compare(bytes.substr(high_shared_));
  }

  Decoder decoder_;
  uint8_t kind_ = kNoBounds;
  std::string low_;
  size_t high_shared_ = 0;  // bytes of low_ that begin the high bound
  ByteView high_further_;
};

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

/// Whether a granule's bounds contain one of `values`, which ascend.
template <class Cursor>
BLOCKSIEVE_INLINE bool ContainsAny(const Cursor& cursor, std::span<const Value> values) noexcept {
  const auto first = std::partition_point(
      values.begin(), values.end(), [&](const Value& value) { return cursor.IsAbove(value); });
  return cursor.has_values() && first != values.end() && !cursor.IsBelow(*first);
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
  Remove(candidates, [&](size_t, const auto& cursor) { return cursor.Overlaps(range); });
}

void BoundsReader::PruneByValues(std::span<const Value> values, GranuleSet* candidates) const {
  Remove(candidates, [&](size_t, const auto& cursor) { return ContainsAny(cursor, values); });
}

void BoundsReader::PruneByOthers(std::span<const Value> values, GranuleSet* candidates) const {
  Remove(candidates, [&](size_t, const auto& cursor) {
    return cursor.has_values() && !(cursor.HasOneValue() && ContainsAny(cursor, values));
  });
}

std::vector<GranuleBounds> BoundsReader::All(uint64_t num_granules) const {
  std::vector<GranuleBounds> all(static_cast<size_t>(num_granules));
  GranuleSet granules = GranuleSet::All(all.size());
  Remove(&granules, [&](size_t granule, const auto& cursor) {
    all[granule] = cursor.Bounds();
    return true;
  });
  return all;
}

}  // namespace blocksieve::internal
