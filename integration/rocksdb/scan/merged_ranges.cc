// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/merged_ranges.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace blocksieve::rocksdb_plugin {

namespace {

/// A key shortly after `key`, with few or no keys between them. Nothing if no such key exists, or
/// the comparator is unknown.
std::optional<std::string> KeyJustAfter(const rocksdb::Comparator& comparator,
                                        const std::string& key) {
  if (&comparator == rocksdb::BytewiseComparator()) {
    std::string after = key;
    after.push_back('\0');
    return after;
  }
  if (&comparator == rocksdb::ReverseBytewiseComparator() && !key.empty()) {
    std::string after = key.substr(0, key.size() - 1);
    if (key.back() == '\0') return after;
    // No string is the next one below; few lie between `key` and this one.
    after.push_back(static_cast<char>(static_cast<unsigned char>(key.back()) - 1));
    return after.append(16, '\xff');
  }
  return std::nullopt;
}

}  // namespace

BoundedIterator::BoundedIterator(const ScanContext* context, const rocksdb::ReadOptions& options)
    : context_(context), options_(options) {}

bool BoundedIterator::Pin(const ScanRange& like) {
  std::optional<std::string> bound = FindBound(like);
  const bool with_bound = bound.has_value();
  if (with_bound) {
    bound_bytes_ = *std::move(bound);
    bound_ = bound_bytes_;
  }
  if (iterator_ != nullptr && has_bound_ == with_bound) return false;
  // RocksDB allows the bound to change before each Seek, so the options keep its address.
  rocksdb::ReadOptions options = options_;
  if (with_bound) {
    (context_->reverse ? options.iterate_lower_bound : options.iterate_upper_bound) = &bound_;
  }
  has_bound_ = with_bound;
  iterator_.reset(context_->db->NewIterator(options, context_->column_family));
  return true;
}

std::optional<std::string> BoundedIterator::FindBound(const ScanRange& range) const {
  if (context_->reverse) return range.low;  // RocksDB's lower bound is inclusive
  // With an unknown comparator, forward ranges have no bound.
  return range.high ? KeyJustAfter(*context_->comparator, *range.high) : std::nullopt;
}

void BoundedIterator::Seek(const ScanRange& range) {
  end_ = range.end(context_->reverse);
  Pin(range);
  const std::optional<std::string>& start = range.start(context_->reverse);
  if (start) {
    context_->reverse ? iterator_->SeekForPrev(*start) : iterator_->Seek(*start);
  } else {
    context_->reverse ? iterator_->SeekToLast() : iterator_->SeekToFirst();
  }
  CheckEnd();
}

void BoundedIterator::Next() {
  assert(Valid());
  // No key of the range follows, and the next step might read another data block.
  if (at_end_) {
    valid_ = false;
    return;
  }
  context_->reverse ? iterator_->Prev() : iterator_->Next();
  CheckEnd();
}

void BoundedIterator::CheckEnd() {
  valid_ = iterator_->Valid();
  at_end_ = false;
  if (!valid_ || !end_) return;
  const int order = context_->CompareInScan(iterator_->key(), *end_);
  valid_ = order <= 0;
  at_end_ = order == 0;
}

rocksdb::Status BoundedIterator::status() const {
  return iterator_ == nullptr ? rocksdb::Status::OK() : iterator_->status();
}

MergedRanges::MergedRanges(ScanContext* context)
    : context_(context), view_(context, context->read_options) {}

void MergedRanges::Add(ScanRange range) {
  const bool reverse = context_->reverse;
  // A missing start comes before all starts.
  const auto starts_before = [&](const ScanRange& a, const ScanRange& b) {
    if (!b.start(reverse)) return false;
    return !a.start(reverse) || context_->CompareInScan(*a.start(reverse), *b.start(reverse)) < 0;
  };
  ranges_.insert(std::ranges::upper_bound(ranges_, range, starts_before), std::move(range));
}

bool MergedRanges::Covers(const rocksdb::Slice& key) const {
  if (!covered_) return false;
  const auto& start = covered_->start(context_->reverse);
  const auto& end = covered_->end(context_->reverse);
  return (!start || context_->CompareInScan(*start, key) <= 0) &&
         (!end || context_->CompareInScan(key, *end) <= 0);
}

std::optional<rocksdb::Slice> MergedRanges::Bound() const {
  assert(!Done());
  if (positioned_) return view_.key();
  const auto& start = ranges_.front().start(context_->reverse);
  if (!start) return std::nullopt;
  return rocksdb::Slice(*start);
}

bool MergedRanges::CutCovered(ScanRange* range) const {
  const auto& start = range->start(context_->reverse);
  const bool is_start_covered =
      start ? Covers(*start) : covered_ && !covered_->start(context_->reverse);
  if (!is_start_covered) return true;
  const auto& covered_end = covered_->end(context_->reverse);
  const auto& end = range->end(context_->reverse);
  if (!covered_end || (end && Covers(*end))) return false;
  range->start(context_->reverse) = covered_end;
  return true;
}

void MergedRanges::Position() {
  assert(!Done() && !IsPositioned());
  ScanRange range = std::move(ranges_.front());
  ranges_.pop_front();
  if (!CutCovered(&range)) return;
  covered_ = std::move(range);
  ++context_->counts.key_ranges_read;
  view_.Seek(*covered_);
  CountRow();
}

void MergedRanges::Next() {
  assert(IsPositioned());
  view_.Next();
  CountRow();
}

void MergedRanges::CountRow() {
  positioned_ = view_.Valid();
  context_->counts.rows_read += positioned_;
}

}  // namespace blocksieve::rocksdb_plugin
