#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace blocksieve::testing {

struct KeyLess {
  const rocksdb::Comparator* comparator = rocksdb::BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->CompareWithoutTimestamp(a, false, b, false) < 0;
  }
};

/// The rows of a database at one moment.
using Rows = std::map<std::string, std::string, KeyLess>;
using RowsPtr = std::shared_ptr<const Rows>;

/// [lower, upper)
struct Bounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// The oracle of iterators: their moves, over the rows within bounds that match.
class Cursor {
 public:
  using Matches = std::function<bool(const Rows::value_type& row)>;

  Cursor(RowsPtr rows, const Bounds& bounds, Matches matches)
      : rows_(std::move(rows)), matches_(std::move(matches)) {
    begin_ = bounds.lower ? rows_->lower_bound(*bounds.lower) : rows_->begin();
    end_ = bounds.upper ? rows_->lower_bound(*bounds.upper) : rows_->end();
    if (bounds.lower && bounds.upper && !rows_->key_comp()(*bounds.lower, *bounds.upper))
      end_ = begin_;
    at_ = end_;
  }

  bool Valid() const { return at_ != end_; }
  const Rows::value_type& row() const { return *at_; }  ///< REQUIRES: Valid()

  void SeekToFirst() { GoOn(begin_); }
  void SeekToLast() { GoBack(end_); }
  void Seek(const std::string& key) { GoOn(Within(rows_->lower_bound(key))); }
  void SeekForPrev(const std::string& key) { GoBack(Within(rows_->upper_bound(key))); }
  void Next() { GoOn(std::next(at_)); }  ///< REQUIRES: Valid()
  void Prev() { GoBack(at_); }           ///< REQUIRES: Valid()

 private:
  using Place = Rows::const_iterator;

  bool IsBefore(Place a, Place b) const {
    return a != rows_->end() && (b == rows_->end() || rows_->key_comp()(a->first, b->first));
  }
  Place Within(Place place) const {
    if (IsBefore(place, begin_)) return begin_;
    return IsBefore(end_, place) ? end_ : place;
  }
  void GoOn(Place place) {
    for (at_ = place; at_ != end_ && !matches_(*at_);) ++at_;
  }
  // From before `place`.
  void GoBack(Place place) {
    for (at_ = end_; place != begin_;) {
      if (--place; matches_(*place)) {
        at_ = place;
        return;
      }
    }
  }

  RowsPtr rows_;
  Matches matches_;
  Place begin_;
  Place end_;
  Place at_;
};

}  // namespace blocksieve::testing
