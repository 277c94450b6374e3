#include "tests/rocksdb/model/twin_iterator.h"

#include <gtest/gtest.h>

#include <utility>

namespace blocksieve::testing {
namespace {

std::string Position(const rocksdb::Iterator& iterator) {
  if (!iterator.status().ok()) return iterator.status().ToString();
  if (!iterator.Valid()) return "no row";
  return "'" + Hex(iterator.key()) + "' with " + iterator.value().ToString();
}

std::string BoundText(const std::optional<std::string>& bound) {
  return bound ? "'" + Hex(*bound) + "'" : "none";
}

}  // namespace

std::string Hex(const rocksdb::Slice& text) { return text.ToString(/*hex=*/true); }

TwinIterator::TwinIterator(const MakeIterator& make, rocksdb::ReadOptions read, Bounds bounds,
                           ModelCounts* counts)
    : read_(std::move(read)), bounds_(std::move(bounds)), counts_(*counts) {
  if (bounds_.lower) {
    lower_ = *bounds_.lower;
    read_.iterate_lower_bound = &lower_;
  }
  if (bounds_.upper) {
    upper_ = *bounds_.upper;
    read_.iterate_upper_bound = &upper_;
  }
  filtered_ = make(read_);
  rocksdb::ReadOptions plain;
  plain.total_order_seek = true;
  plain.iterate_lower_bound = read_.iterate_lower_bound;
  plain.iterate_upper_bound = read_.iterate_upper_bound;
  plain.snapshot = read_.snapshot;
  plain.timestamp = read_.timestamp;
  plain.tailing = read_.tailing;
  plain_ = make(plain);
}

void TwinIterator::Both(const std::string& what,
                        const std::function<void(rocksdb::Iterator*)>& move) {
  ++counts_.operations;
  move(filtered_.get());
  move(plain_.get());
  const std::string position = Position(*filtered_);
  is_at_row_ = plain_->Valid();
  if (position == Position(*plain_) && plain_->status().ok()) return;
  is_at_row_ = false;
  ADD_FAILURE() << what << ": at " << position << ", not at " << Position(*plain_) << Describe();
}

void TwinIterator::Seek(const std::string& key) {
  ++counts_.seeks;
  Both("Seek to '" + Hex(key) + "'", [&](auto* iterator) { iterator->Seek(key); });
}
void TwinIterator::SeekForPrev(const std::string& key) {
  ++counts_.seeks;
  Both("SeekForPrev to '" + Hex(key) + "'", [&](auto* iterator) { iterator->SeekForPrev(key); });
}
void TwinIterator::Refresh() {
  is_at_row_ = false;
  const bool is_refreshed = filtered_->Refresh().ok();
  EXPECT_EQ(is_refreshed, plain_->Refresh().ok());
}

// ReadOptions refer to the slice, so its address must not change.
void TwinIterator::MoveBound(const std::string& upper) {
  if (!bounds_.upper) return;
  bounds_.upper = upper;
  if (bounds_.lower && *bounds_.upper < *bounds_.lower) std::swap(bounds_.lower, bounds_.upper);
  upper_ = *bounds_.upper;
  if (bounds_.lower) lower_ = *bounds_.lower;
  is_at_row_ = false;
}

std::string TwinIterator::Describe() const {
  std::string text = "; bounds " + BoundText(bounds_.lower) + " to " + BoundText(bounds_.upper);
  if (read_.auto_prefix_mode) text += ", auto_prefix_mode";
  if (read_.total_order_seek) text += ", total_order_seek";
  if (read_.prefix_same_as_start) text += ", prefix_same_as_start";
  if (read_.tailing) text += ", tailing";
  if (read_.snapshot != nullptr) text += ", at a snapshot";
  return text;
}

void CompareScan(const MakeIterator& make, const rocksdb::ReadOptions& read,
                 const std::string& begin, const std::string& end, ModelCounts* counts) {
  TwinIterator twin(make, read, {std::nullopt, end}, counts);
  for (twin.Seek(begin); twin.is_at_row();) {
    twin.Both("Next", &rocksdb::Iterator::Next);
  }
}

}  // namespace blocksieve::testing
