#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "lib/column/values.h"
#include "lib/predicate/column_index.h"
#include "lib/predicate/granule_pruner.h"

namespace blocksieve::testing {

inline bool IsIn(const ValueRange& range, const Value& value) {
  const auto from_low = range.low ? value.Compare(*range.low) : std::strong_ordering::greater;
  const auto from_high = range.high ? value.Compare(*range.high) : std::strong_ordering::less;
  return (range.includes_low ? from_low >= 0 : from_low > 0) &&
         (range.includes_high ? from_high <= 0 : from_high < 0);
}

/// Owns the text of a bytes value.
class OwnedValue {
 public:
  explicit OwnedValue(const Value& value)
      : value_(value), text_(value.type() == ValueType::kBytes ? value.bytes() : "") {}
  Value get() const { return value_.type() == ValueType::kBytes ? Value::Bytes(text_) : value_; }

 private:
  Value value_;
  std::string text_;
};

/// An index with all values of every granule of a column. Counts its probes.
class PerfectIndex final : public ColumnIndex {
 public:
  struct Granule {
    std::vector<OwnedValue> values;
    bool some_missing = false;
    bool some_present = false;
  };

  /// `granules[g]` are the rows of granule g. As with the skip index, a row without values
  /// counts as missing, even if it has a text without tokens; unless `texts_are_present`.
  PerfectIndex(const Column& column, const std::vector<std::vector<std::string>>& granules,
               bool texts_are_present = false) {
    for (const auto& rows : granules) {
      Granule& granule = granules_.emplace_back();
      for (const std::string& row : rows) {
        const size_t before = granule.values.size();
        const bool has_column = internal::ForEachIndexed(column, row, [&](const Value& value) {
          granule.values.emplace_back(value);
          return true;
        });
        const bool is_present = granule.values.size() > before || (has_column && texts_are_present);
        (is_present ? granule.some_present : granule.some_missing) = true;
      }
    }
  }

  void PruneByHash(uint64_t value_hash, GranuleSet* candidates) const override {
    ++filter_calls;
    KeepIf(candidates, [&](const Granule& granule) {
      return Any(granule, [&](const Value& value) { return value.Hash() == value_hash; });
    });
  }
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const override {
    ++bounds_calls;
    KeepIf(candidates, [&](const Granule& granule) {
      return Any(granule, [&](const Value& value) { return IsIn(range, value); });
    });
  }
  void PruneByInequality(const Value& value, GranuleSet* candidates) const override {
    ++bounds_calls;
    KeepIf(candidates, [&](const Granule& granule) {
      return Any(granule, [&](const Value& other) { return other != value; });
    });
  }
  void PruneByMissing(GranuleSet* candidates) const override {
    ++bounds_calls;
    KeepIf(candidates, [](const Granule& granule) { return granule.some_missing; });
  }
  void PruneByPresence(GranuleSet* candidates) const override {
    ++bounds_calls;
    KeepIf(candidates, [](const Granule& granule) { return granule.some_present; });
  }

  size_t calls() const { return filter_calls + bounds_calls; }
  mutable size_t filter_calls = 0;
  mutable size_t bounds_calls = 0;

 private:
  template <class Is>
  static bool Any(const Granule& granule, const Is& is) {
    return std::any_of(granule.values.begin(), granule.values.end(),
                       [&](const OwnedValue& value) { return is(value.get()); });
  }
  template <class Is>
  void KeepIf(GranuleSet* candidates, const Is& is) const {
    for (size_t g = 0; g < granules_.size(); ++g) {
      if (candidates->Has(g) && !is(granules_[g])) candidates->Remove(g);
    }
  }

  std::vector<Granule> granules_;
};

/// The indexes of a file's columns.
class FileIndex {
 public:
  FileIndex(const std::vector<Column>& columns,
            const std::vector<std::vector<std::string>>& granules, bool texts_are_present = false) {
    for (const Column& column : columns) {
      indexes_.try_emplace(column.ToText(), column, granules, texts_are_present);
    }
  }

  internal::ColumnIndexLookup lookup() const {
    return [this](const Column& column) -> const ColumnIndex* {
      const auto index = indexes_.find(column.ToText());
      return index == indexes_.end() ? nullptr : &index->second;
    };
  }
  size_t calls() const {
    return Sum(&PerfectIndex::filter_calls) + Sum(&PerfectIndex::bounds_calls);
  }
  size_t filter_calls() const { return Sum(&PerfectIndex::filter_calls); }

 private:
  size_t Sum(size_t PerfectIndex::*member) const {
    size_t sum = 0;
    for (const auto& [name, index] : indexes_) sum += index.*member;
    return sum;
  }

  std::map<std::string, PerfectIndex> indexes_;
};

}  // namespace blocksieve::testing
