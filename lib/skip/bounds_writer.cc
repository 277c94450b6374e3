// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/skip/bounds.h"

namespace blocksieve::internal {

// Eight bytes tell gaps apart well enough: any choice of intervals is correct.
uint64_t Distance(std::string_view low, std::string_view high, size_t shared) noexcept {
  const auto word = [&](std::string_view bytes) {
    bytes.remove_prefix(std::min(shared, bytes.size()));
    uint64_t number = 0;
    for (size_t i = 0; i < std::min(bytes.size(), sizeof(number)); ++i) {
      number |= uint64_t{static_cast<uint8_t>(bytes[i])} << (56 - 8 * i);
    }
    return number;
  };
  return word(high) - word(low);
}

namespace {

size_t Shared(uint64_t, uint64_t) noexcept { return 0; }
size_t Shared(std::string_view low, std::string_view high) noexcept {
  return SharedBytes(low, high);
}

/// Bits to round off so that `bits` significant ones of `number` remain.
int CutBits(uint64_t number, int bits) noexcept {
  return std::max(0, static_cast<int>(std::bit_width(number)) - bits);
}

uint64_t AbsoluteDifference(uint64_t a, uint64_t b) noexcept { return a < b ? b - a : a - b; }

}  // namespace

template <class End, class View>
void GapFinder<End, View>::AddOutside(View value) {
  auto& [first, second] = intervals_;
  const size_t below = (count_ > 0 && first.high < value) + (count_ > 1 && second.high < value);
  if (count_ < 2) {
    if (below < count_) std::swap(first, second);
    intervals_[below].low = intervals_[below].high = value;
    ++count_;
    return;
  }
  const size_t shared =
      Shared(below == 0 ? value : View(first.low), below == 2 ? value : View(second.high));
  const uint64_t gap = Distance(first.high, second.low, shared);
  if (below == 0 && gap < Distance(value, first.low, shared)) {
    std::swap(first.low, second.low);
    first.high = first.low = value;
  } else if (below == 0) {
    first.low = value;
  } else if (below == 2 && gap < Distance(second.high, value, shared)) {
    std::swap(first.high, second.high);
    second.low = second.high = value;
  } else if (below == 2) {
    second.high = value;
  } else if (Distance(first.high, value, shared) < Distance(value, second.low, shared)) {
    first.high = value;
  } else {
    second.low = value;
  }
}

template <class End, class View>
template <class Counts>
auto GapFinder<End, View>::Finish(Counts counts) -> std::span<const Interval> {
  auto& [first, second] = intervals_;
  if (count_ == 2) {
    const size_t shared = Shared(first.low, second.high);
    const uint64_t gap = Distance(first.high, second.low, shared);
    if (gap <= Distance(first.low, second.high, shared) - gap || !counts(first, second)) {
      std::swap(first.high, second.high);
      count_ = 1;
    }
  }
  return std::span(intervals_).first(count_);
}

void BoundsWriter::Add(const Value& value) {
  assert(value.type() == type_);
  if (type_ == ValueType::kBytes) return texts_.Add(value.bytes());
  const uint64_t bits = OrderedBits(value);
  if (type_ == ValueType::kFloat && (bits <= kSpecialFloats[0] || bits >= kSpecialFloats[1])) {
    const auto special = std::find(kSpecialFloats.begin(), kSpecialFloats.end(), bits);
    specials_ |= static_cast<uint8_t>(1 << (special - kSpecialFloats.begin()));
  } else {
    numbers_.Add(bits);
  }
}

void BoundsWriter::CloseGranule(bool wanted) {
  if (num_granules_++ % kGranulesPerBoundsBlock == 0) {
    previous_ = {};
    reference_ = prefix_;
    second_.clear();
  }
  if (!wanted) {
    bytes_.push_back(static_cast<char>(kNoBounds));
  } else if (type_ == ValueType::kBytes) {
    CloseBytes();
  } else {
    CloseNumbers();
  }
  numbers_.Clear();
  texts_.Clear();
  specials_ = 0;
}

void BoundsWriter::CloseNumbers() {
  const auto intervals = numbers_.Finish([&](const auto& low, const auto& high) {
    const uint64_t gap = high.low - low.high;
    return gap > 1 && gap / kMinStepsOfGap >= std::min(AbsoluteDifference(low.low, last_low_),
                                                       AbsoluteDifference(high.low, last_low_));
  });
  // The interval nearer to the first one before it is the first again, whichever of two is lower.
  const bool is_swapped =
      intervals.size() == 2 && AbsoluteDifference(intervals[1].low, last_low_) <
                                   AbsoluteDifference(intervals[0].low, last_low_);
  const size_t kind_at = bytes_.size();
  uint8_t kind = 0;
  bytes_.push_back(0);
  int fine = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const auto [min, max] = intervals[is_swapped ? 1 - i : i];
    if (i == 1 && previous_[1] == 0) previous_[1] = previous_[0];
    const int difference_bits = static_cast<int>(std::bit_width(ZigZag(min - previous_[i])));
    int cut = CutBits(max - min, kNumberSpanBits);
    if (i == 0) {
      kind |= static_cast<uint8_t>(cut + 1);
      fine = std::min(cut - std::max(0, difference_bits - kFineLowBits), kMaxFineBits);
      const bool is_close = fine >= kMinFineBits;
      if (!is_close || !was_close_) fine = 0;
      was_close_ = is_close;
      if (fine != 0 || specials_ != 0) {
        kind |= kHasExtras;
        bytes_.push_back(static_cast<char>(fine << kSpecialFloats.size() | specials_));
      }
    } else {
      kind |= kHasSecond;
      cut = std::max(cut, difference_bits - kSecondLowBits);
      bytes_.push_back(static_cast<char>(cut));
    }
    const int low_cut = i == 0 ? cut - fine : cut;
    const uint64_t low = min >> low_cut;
    AppendVarint(&bytes_, ZigZag(low - (previous_[i] >> low_cut)));
    previous_[i] = low << low_cut;
    if (i == 0) last_low_ = previous_[0];
    AppendVarint(&bytes_, (max - previous_[i]) >> cut);
    lows_.push_back(min);
    highs_.push_back(max);
  }
  if (intervals.empty() && specials_ != 0) {
    kind = kHasExtras;
    bytes_.push_back(static_cast<char>(specials_));
  }
  bytes_[kind_at] = static_cast<char>(kind);
}

double BoundsWriter::MeanOverlap() const {
  if (type_ == ValueType::kBytes) return std::numeric_limits<double>::infinity();
  std::vector<uint64_t> lows;  // of intervals with more than one value
  std::vector<uint64_t> highs;
  for (size_t i = 0; i < lows_.size(); ++i) {
    if (lows_[i] == highs_[i]) continue;
    lows.push_back(lows_[i]);
    highs.push_back(highs_[i]);
  }
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  uint64_t overlaps = 0;
  for (const uint64_t value : lows_) {
    const auto begun = std::upper_bound(lows.begin(), lows.end(), value) - lows.begin();
    const auto ended = std::lower_bound(highs.begin(), highs.end(), value) - highs.begin();
    overlaps += static_cast<uint64_t>(begun - ended);
  }
  return static_cast<double>(overlaps) / static_cast<double>(std::max<size_t>(lows_.size(), 1));
}

// Appends the bounds of an interval, relative to `*reference`, which its low one replaces.
BytesBounds BoundsWriter::AppendBytes(const Texts::Interval& interval, bool is_only,
                                      std::string* reference) {
  const auto& [min, max] = interval;
  const size_t shared = SharedBytes(*reference, min);
  const size_t limit = std::min(shared + kMaxFurtherBytes + credit_, kMaxBoundBytes);
  const size_t wanted = min != max ? SharedBytes(min, max) + kBytesPastPrefix
                        : is_only  ? limit
                                   : shared + kBytesOfOneValue;
  const size_t cut = std::min(wanted, limit);
  const bool is_cut = max.size() > cut || min.size() > cut;
  BytesBounds kind = min == max && !is_cut ? kOneValue : kTwoBounds;
  std::string low = min.substr(0, cut);
  std::string high = kind == kTwoBounds ? max.substr(0, cut) : std::string();
  if (max.size() > cut) {
    const auto above = PrefixSuccessor(high);
    if (!above) kind = kLowerBound;
    high = above.value_or("");
  }
  credit_ -= std::min(credit_, low.size() - std::min(low.size(), shared + kMaxFurtherBytes));

  if (num_bounds_++ == 0) *reference = prefix_ = low;
  all_alike_ = all_alike_ && is_cut && SharedBytes(min, max) >= cut &&
               SharedBytes(low, longest_) == std::min(low.size(), longest_.size());
  if (low.size() > longest_.size()) longest_ = low;
  AppendAfter(*reference, low, &bytes_);
  if (kind == kTwoBounds) AppendAfter(low, high, &bytes_);
  *reference = std::move(low);
  return kind;
}

void BoundsWriter::CloseBytes() {
  // A sentinel is a single text, and unlike others from its beginning. Else, the gap of an alphabet
  // (between 9 and a) or of a calendar would double bounds, and gain nothing.
  const auto intervals = texts_.Finish([](const auto& low, const auto& high) {
    const size_t shared = SharedBytes(low.high, high.low);
    return (low.low == low.high || high.low == high.high) &&
           2 * shared < std::max(low.high.size(), high.low.size());
  });
  const bool is_two = intervals.size() == 2;
  const bool is_swapped = is_two && SharedBytes(intervals[1].low, reference_) >
                                        SharedBytes(intervals[0].low, reference_);
  const size_t kind_at = bytes_.size();
  bytes_.push_back(static_cast<char>(kNoBounds));
  int kind = kNoBounds;
  if (!intervals.empty()) kind = AppendBytes(intervals[is_swapped ? 1 : 0], !is_two, &reference_);
  if (is_two) {
    if (second_.empty()) second_ = reference_;
    kind |= AppendBytes(intervals[is_swapped ? 0 : 1], false, &second_) << kSecondKindShift;
  }
  bytes_[kind_at] = static_cast<char>(kind);
  credit_ = std::min(credit_ + kCreditPerGranule, kMaxCredit);
}

std::string BoundsWriter::Finish() const {
  std::string all;
  if (type_ == ValueType::kBytes) {
    AppendVarint(&all, prefix_.size());
    all += prefix_;
  }
  return all + bytes_;
}

}  // namespace blocksieve::internal
