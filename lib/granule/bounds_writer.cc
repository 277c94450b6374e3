#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/granule/bounds.h"

namespace blocksieve::internal {

void BoundsWriter::Add(const Value& value) {
  assert(value.type() == type_);
  if (type_ == ValueType::kBytes) {
    const std::string_view bytes = value.bytes();
    if (!has_values_ || bytes < min_bytes_) min_bytes_.assign(bytes);
    if (!has_values_ || bytes > max_bytes_) max_bytes_.assign(bytes);
  } else {
    const uint64_t bits = OrderedBits(value);
    min_ = has_values_ ? std::min(min_, bits) : bits;
    max_ = has_values_ ? std::max(max_, bits) : bits;
  }
  has_values_ = true;
}

void BoundsWriter::CloseGranule(bool wanted) {
  if (num_granules_++ % kGranulesPerBoundsBlock == 0) {
    previous_ = 0;
    previous_bytes_.clear();
  }
  if (!has_values_ || !wanted) {
    bytes_.push_back(static_cast<char>(kNoBounds));
  } else if (type_ == ValueType::kBytes) {
    CloseBytes();
  } else {
    CloseNumbers();
  }
  has_values_ = false;
}

void BoundsWriter::CloseNumbers() {
  const auto span_bits = static_cast<int>(std::bit_width(max_ - min_));
  const int cut_bits = std::max(0, span_bits - kNumberSpanBits);
  const uint64_t low = min_ >> cut_bits;
  bytes_.push_back(static_cast<char>(cut_bits + 1));
  AppendVarint(&bytes_, ZigZag(low - (previous_ >> cut_bits)));
  AppendVarint(&bytes_, (max_ >> cut_bits) - low);
  previous_ = low << cut_bits;
  lows_.push_back(min_);
  highs_.push_back(max_);
}

double BoundsWriter::MeanOverlap() const {
  if (lows_.empty()) return std::numeric_limits<double>::infinity();
  std::vector<uint64_t> lows = lows_;
  std::vector<uint64_t> highs = highs_;
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  uint64_t overlaps = 0;
  for (const uint64_t value : lows_) {
    const auto begun = std::upper_bound(lows.begin(), lows.end(), value) - lows.begin();
    const auto ended = std::lower_bound(highs.begin(), highs.end(), value) - highs.begin();
    overlaps += static_cast<uint64_t>(begun - ended);
  }
  return static_cast<double>(overlaps) / static_cast<double>(lows_.size());
}

void BoundsWriter::CloseBytes() {
  const size_t shared = SharedBytes(min_bytes_, max_bytes_);
  const bool one_value = min_bytes_ == max_bytes_;
  const size_t cut =
      one_value ? kMaxBoundBytes : std::min(shared + kBytesPastPrefix, kMaxBoundBytes);
  BytesBounds kind = one_value && min_bytes_.size() <= cut ? kOneValue : kTwoBounds;
  if (min_bytes_.size() > cut) min_bytes_.resize(cut);
  if (kind == kTwoBounds && max_bytes_.size() > cut) {
    const auto above = PrefixSuccessor(std::string_view(max_bytes_).substr(0, cut));
    if (!above) kind = kLowerBound;
    max_bytes_ = above.value_or("");
  }
  bytes_.push_back(static_cast<char>(kind));
  AppendAfter(previous_bytes_, min_bytes_, &bytes_);
  if (kind == kTwoBounds) AppendAfter(min_bytes_, max_bytes_, &bytes_);
  previous_bytes_ = min_bytes_;
}

}  // namespace blocksieve::internal
