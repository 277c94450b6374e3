#include "tests/rocksdb/ranges/checked_iterator.h"

#include <utility>

namespace blocksieve::testing {
namespace {

std::string BoundText(const std::optional<std::string>& bound) {
  return bound ? "'" + Hex(*bound) + "'" : "none";
}

}  // namespace

std::string Hex(const rocksdb::Slice& text) { return text.ToString(/*hex=*/true); }

CheckedIterator::CheckedIterator(rocksdb::DB* db, IteratorSettings settings, RowView view,
                                 ModelKeys* keys, Dice* dice, ModelReport* report)
    : settings_(std::move(settings)),
      view_(std::move(view)),
      keys_(*keys),
      dice_(*dice),
      report_(*report) {
  rocksdb::ReadOptions& read = settings_.read;
  if (settings_.bounds.lower) {
    lower_ = *settings_.bounds.lower;
    read.iterate_lower_bound = &lower_;
  }
  if (settings_.bounds.upper) {
    upper_ = *settings_.bounds.upper;
    read.iterate_upper_bound = &upper_;
  }
  read.snapshot = view_.snapshot;
  if (!view_.timestamp.empty()) {
    timestamp_ = view_.timestamp;
    read.timestamp = &timestamp_;
  }
  iterator_.reset(db->NewIterator(read));
}

void CheckedIterator::Move() {
  ++report_.operations;
  const Rows& rows = *view_.rows;
  uint64_t move = dice_.Below(settings_.goes_back ? 14 : 11);
  if (move >= 8 && !row_) move = 0;
  if (move < 8 && dice_.OneIn(3)) MoveBound();
  if (move < 5) {
    Seek();
  } else if (move == 5 && settings_.goes_back) {
    SeekForPrev();
  } else if (move == 6 && settings_.goes_back) {
    iterator_->SeekToLast();
    Check("SeekToLast", LastRow(rows, settings_.bounds));
  } else if (move < 8) {
    iterator_->SeekToFirst();
    Check("SeekToFirst", FirstRow(rows, settings_.bounds));
  } else if (move < 11) {
    iterator_->Next();
    Check("Next from " + Hex(rows[*row_].first), NextRow(rows, settings_.bounds, *row_));
  } else {
    iterator_->Prev();
    Check("Prev from " + Hex(rows[*row_].first), PreviousRow(rows, settings_.bounds, *row_));
  }
}

void CheckedIterator::Refresh(const std::shared_ptr<const Rows>& now) {
  row_.reset();
  if (iterator_->Refresh().ok()) view_.rows = now;
}

void CheckedIterator::Follow(const std::shared_ptr<const Rows>& now) {
  if (view_.rows == now) return;
  view_.rows = now;
  row_.reset();
}

void CheckedIterator::Seek() {
  ++report_.seeks;
  const std::string key = SeekKey();
  iterator_->Seek(key);
  Check("Seek to '" + Hex(key) + "'", SeekRow(*view_.rows, settings_.bounds, key));
}

void CheckedIterator::SeekForPrev() {
  ++report_.seeks;
  const std::string key = SeekKey();
  iterator_->SeekForPrev(key);
  Check("SeekForPrev to '" + Hex(key) + "'", SeekRowForPrev(*view_.rows, settings_.bounds, key));
}

// Mostly a row right before the upper bound, or right behind such a one.
std::string CheckedIterator::SeekKey() {
  const Rows& rows = *view_.rows;
  if (!settings_.bounds.upper || dice_.OneIn(3)) return keys_.Near();
  const size_t bound = FirstNotBelow(rows, *settings_.bounds.upper);
  const size_t before = dice_.Below(3);
  if (before > bound || bound - before >= rows.size()) return keys_.Near();
  return rows[bound - before].first + (dice_.OneIn(2) ? std::string(1, '\0') : "");
}

// The slice that ReadOptions refer to stays where it is.
void CheckedIterator::MoveBound() {
  RowBounds& bounds = settings_.bounds;
  if (!bounds.upper || !settings_.moves_bound) return;
  bounds.upper = keys_.Near();
  if (bounds.lower && *bounds.upper < *bounds.lower) std::swap(bounds.lower, bounds.upper);
  upper_ = *bounds.upper;
  if (bounds.lower) lower_ = *bounds.lower;
}

void CheckedIterator::Check(const std::string& move, const RowPosition& expected) {
  row_.reset();
  // Beside blocks that are not in the cache, RocksDB 7.8.3 may give a later row and call it right.
  if (settings_.read.read_tier == rocksdb::kBlockCacheTier) return;
  const bool is_valid = iterator_->Valid();
  const rocksdb::Status status = iterator_->status();
  if (!status.ok()) {
    report_.Wrong(move + ": " + status.ToString() + Describe());
  } else if (is_valid != expected.has_value()) {
    report_.Wrong(move + ": " + (is_valid ? "at '" + Hex(iterator_->key()) + "'" : "at no row") +
                  (expected ? ", not at '" + Hex((*view_.rows)[*expected].first) + "'"
                            : ", but there is no row") +
                  Describe());
  } else if (expected) {
    const auto& [key, value] = (*view_.rows)[*expected];
    if (iterator_->key() != key || iterator_->value() != value) {
      report_.Wrong(move + ": at '" + Hex(iterator_->key()) + "' with " +
                    iterator_->value().ToString() + ", not at '" + Hex(key) + "' with " + value +
                    Describe());
    } else {
      row_ = expected;
    }
  }
}

std::string CheckedIterator::Describe() const {
  const rocksdb::ReadOptions& read = settings_.read;
  std::string text =
      "; bounds " + BoundText(settings_.bounds.lower) + " to " + BoundText(settings_.bounds.upper);
  if (read.auto_prefix_mode) text += ", auto_prefix_mode";
  if (read.total_order_seek) text += ", total_order_seek";
  if (read.prefix_same_as_start) text += ", prefix_same_as_start";
  if (read.tailing) text += ", tailing";
  if (read.snapshot != nullptr) text += ", at a snapshot";
  return text;
}

void CheckScan(rocksdb::Iterator* iterator, const Rows& rows, const std::string& begin,
               const std::string& end, const std::string& what, ModelReport* report) {
  ++report->seeks;
  const auto range = [&] { return what + " of '" + Hex(begin) + "' to '" + Hex(end) + "': "; };
  size_t row = FirstNotBelow(rows, begin);
  for (iterator->Seek(begin); iterator->Valid() && iterator->key().compare(end) < 0;
       iterator->Next(), ++row) {
    ++report->operations;
    if (row >= rows.size() || iterator->key() != rows[row].first ||
        iterator->value() != rows[row].second) {
      report->Wrong(range() + "has '" + Hex(iterator->key()) + "', not " +
                    (row < rows.size() ? "'" + Hex(rows[row].first) + "'" : "the end"));
      return;
    }
  }
  ++report->operations;
  if (!iterator->status().ok()) {
    report->Wrong(range() + iterator->status().ToString());
  } else if (row < rows.size() && rows[row].first < end) {
    report->Wrong(range() + "ends before '" + Hex(rows[row].first) + "'");
  }
}

}  // namespace blocksieve::testing
