#include "integration/rocksdb/scan/merged_ranges.h"

#include <cassert>
#include <utility>

namespace blocksieve::rocksdb_plugin {

MergedRanges::MergedRanges(ScanContext* context)
    : context_(context), view_(context, context->read_options) {}

void MergedRanges::Add(ScanRange range) {
  const bool reverse = context_->reverse;
  // Orders of starts, where none is first of all, and of an end and a start.
  const auto starts_before = [&](const ScanRange& a, const ScanRange& b) {
    if (!b.start(reverse)) return false;
    return !a.start(reverse) || context_->CompareInScan(*a.start(reverse), *b.start(reverse)) < 0;
  };
  const auto ends_before_start = [&](const ScanRange& a, const ScanRange& b) {
    return a.end(reverse) && b.start(reverse) &&
           context_->CompareInScan(*a.end(reverse), *b.start(reverse)) < 0;
  };
  const auto extend = [&](ScanRange* a, const ScanRange& b) {
    if (!a->end(reverse)) return;
    if (!b.end(reverse) || context_->CompareInScan(*a->end(reverse), *b.end(reverse)) < 0) {
      a->end(reverse) = b.end(reverse);
    }
  };
  auto position = ranges_.begin();
  while (position != ranges_.end() && starts_before(*position, range)) ++position;
  if (position != ranges_.begin() && !ends_before_start(*std::prev(position), range)) {
    --position;
    extend(&*position, range);
  } else {
    position = ranges_.insert(position, std::move(range));
  }
  auto next = std::next(position);
  while (next != ranges_.end() && !ends_before_start(*position, *next)) {
    extend(&*position, *next);
    next = ranges_.erase(next);
  }
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
  ++context_->counts.ranges_read;
  view_.Seek(*covered_);
  NoteRow();
}

void MergedRanges::Next() {
  assert(IsPositioned());
  view_.Next();
  NoteRow();
}

void MergedRanges::NoteRow() {
  positioned_ = view_.Valid();
  context_->counts.rows_read += positioned_;
}

}  // namespace blocksieve::rocksdb_plugin
