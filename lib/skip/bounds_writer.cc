// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/skip/bounds.h"

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
    reference_ = prefix_;
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
  const size_t free_bytes = SharedBytes(reference_, min_bytes_) + kMaxFurtherBytes;
  const size_t limit = std::min(free_bytes + credit_, kMaxBoundBytes);
  const bool one_value = min_bytes_ == max_bytes_;
  const size_t cut =
      one_value ? limit : std::min(SharedBytes(min_bytes_, max_bytes_) + kBytesPastPrefix, limit);
  const bool is_cut = max_bytes_.size() > cut || min_bytes_.size() > cut;
  const bool is_shared = is_cut && SharedBytes(min_bytes_, max_bytes_) >= cut;
  BytesBounds kind = one_value && !is_cut ? kOneValue : kTwoBounds;
  std::string low = min_bytes_.substr(0, cut);
  std::string high = kind == kTwoBounds ? max_bytes_.substr(0, cut) : std::string();
  if (max_bytes_.size() > cut) {
    const auto above = PrefixSuccessor(high);
    if (!above) kind = kLowerBound;
    high = above.value_or("");
  }
  credit_ -= std::min(credit_, low.size() - std::min(low.size(), free_bytes));
  credit_ = std::min(credit_ + kCreditPerGranule, kMaxCredit);

  if (num_bounds_ == 0) reference_ = prefix_ = low;
  all_alike_ = all_alike_ && is_shared &&
               SharedBytes(low, longest_) == std::min(low.size(), longest_.size());
  if (low.size() > longest_.size()) longest_ = low;
  ++num_bounds_;
  bytes_.push_back(static_cast<char>(kind));
  AppendAfter(reference_, low, &bytes_);
  if (kind == kTwoBounds) AppendAfter(low, high, &bytes_);
  reference_ = std::move(low);
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
