// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/column_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/column/definition.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {
namespace {

// If values are in this share of the granules on average, filters prune next to nothing.
constexpr double kEverywhereShare = 0.95;

// Fewer granules are too small a sample, and their filters are small.
constexpr uint64_t kFewGranules = 16;

// Hashes of a granule that are kept without looking for those that are there twice, which Finish
// removes.
constexpr size_t kFewHashes = 1024;

}  // namespace

ColumnBuilder::ColumnBuilder(const Column& column)
    : may_omit_filters_(column.definition().parts == IndexParts::kAutomatic),
      bounds_writer_(column.type()) {
  const IndexParts parts = column.definition().parts;
  ForgetRecent();
  header_.definition = column.ToText();
  header_.key = column.key();
  header_.type = column.type();
  header_.is_of_key = column.is_of_key();
  if (parts != IndexParts::kBounds) header_.filters = PartState::kPresent;
  // Tokens are not compared.
  if (parts != IndexParts::kFilters && !column.has_tokens()) {
    header_.bounds = PartState::kPresent;
  }
}

bool ColumnBuilder::Add(const Value& value, uint64_t row) {
  if (latest_row_ != row) {
    latest_row_ = row;
    ++rows_with_value_;
  }
  // Even if the hash is not new: it may belong to another value, and ranges must not miss this one.
  if (has_bounds()) bounds_writer_.Add(value);
  return has_filters() && AddHash(value.Hash());
}

bool ColumnBuilder::AddHash(uint64_t hash) {
  uint64_t& recent = recent_[hash % recent_.size()];
  if (recent == hash) return false;
  const bool grows = open_.size() == open_.capacity();
  if (grows && open_.size() >= make_distinct_at_) {
    MakeOpenDistinct();
    make_distinct_at_ = std::max(kFewHashes, 4 * open_.size());
  }
  open_.push_back(hash);
  recent = hash;
  return grows;
}

void ColumnBuilder::MakeOpenDistinct() {
  std::sort(open_.begin(), open_.end());
  open_.erase(std::unique(open_.begin(), open_.end()), open_.end());
}

void ColumnBuilder::CloseGranule(uint64_t num_rows, bool always_match) {
  // The marks of a granule that always matches do not matter.
  AppendBit(!always_match && rows_with_value_ < num_rows, num_granules_, &missing_);
  AppendBit(always_match || rows_with_value_ != 0, num_granules_, &present_);
  ++num_granules_;
  rows_with_value_ = 0;
  if (has_bounds()) bounds_writer_.CloseGranule(!always_match);
  if (!has_filters()) return;
  if (always_match) open_.clear();
  const bool is_few = open_.size() <= kFewHashes;
  if (!is_few) MakeOpenDistinct();
  log_.AddGranule(open_);
  header_.num_distinct += open_.size();
  open_.clear();
  if (!is_few) {
    open_ = {};  // an unusual granule; most take no memory of their own
    make_distinct_at_ = 0;
  }
  ForgetRecent();
}

void ColumnBuilder::ForgetRecent() noexcept {
  // No hash of another slot is ever taken for one of this.
  for (size_t i = 0; i < recent_.size(); ++i) recent_[i] = i + 1;
}

void ColumnBuilder::DropFilters(PartState reason) {
  header_.filters = reason;
  header_.filter_bytes = 0;
  open_ = {};
  log_ = {};
  static_cast<void>(std::exchange(filters_, {}));  // an assigned string keeps its memory
}

void ColumnBuilder::DropBounds(PartState reason) {
  header_.bounds = reason;
  header_.bounds_bytes = 0;
  static_cast<void>(std::exchange(bounds_writer_, BoundsWriter(header_.type)));
  static_cast<void>(std::exchange(bounds_, {}));
}

bool ColumnBuilder::BoundsSuffice() const {
  // Each false positive of bounds costs a block read; filters cost two bytes of index per row.
  constexpr double kMaxOverlap = 3;
  return may_omit_filters_ && has_bounds() && num_granules_ >= kFewGranules &&
         bounds_writer_.MeanOverlap() <= kMaxOverlap;
}

void ColumnBuilder::FinishFilters(double target_fpr) {
  if (BoundsSuffice()) return DropFilters(PartState::kBoundsSuffice);
  const SortedPostings postings(std::exchange(log_, {}));
  const PostingCounts counts = CountPostings(postings);
  header_.num_distinct = postings.all().size();
  if (num_granules_ >= kFewGranules && counts.values != 0 &&
      counts.pairs >= kEverywhereShare * counts.values * counts.granules) {
    return DropFilters(PartState::kUseless);
  }
  if (!AppendPostings(postings, counts, target_fpr, &filters_)) {
    return DropFilters(PartState::kCollisions);
  }
  header_.filter_bytes = filters_.size();
}

void ColumnBuilder::Finish(double target_fpr) {
  assert(rows_with_value_ == 0);
  open_ = {};
  if (has_filters()) FinishFilters(target_fpr);
  if (has_bounds() && bounds_writer_.SaysNothing()) DropBounds(PartState::kUseless);
  if (has_bounds()) AppendCompressed(bounds_writer_.Finish(), &bounds_);
  PackedInts::AppendBits(missing_, num_granules_, &marks_);
  PackedInts::AppendBits(present_, num_granules_, &marks_);
  header_.mark_bytes = marks_.size();
  header_.bounds_bytes = bounds_.size();
}

void ColumnBuilder::Append(std::string* out) {
  const size_t start = out->size();
  out->append(marks_).append(filters_).append(bounds_);
  header_.checksum = Checksum(AsBytes(std::string_view(*out).substr(start)));
}

uint64_t ColumnBuilder::memory_bytes() const noexcept {
  return log_.memory_bytes() + bounds_writer_.memory_bytes() +
         (open_.capacity() + missing_.capacity() + present_.capacity()) * sizeof(uint64_t);
}

}  // namespace blocksieve::internal
