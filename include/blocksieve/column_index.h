#pragma once

#include <optional>
#include <span>
#include <utility>

#include "blocksieve/granule_set.h"
#include "blocksieve/value.h"

namespace blocksieve {

/// Values from `low` to `high`; without one of them, from the least or to the greatest.
struct ValueRange {
  std::optional<Value> low;   ///< None: from the least value.
  std::optional<Value> high;  ///< None: to the greatest value.
  bool includes_low = true;   ///< Whether `low` is in the range; of no matter without it.
  bool includes_high = true;  ///< The same for `high`.
};

/// What an index knows of one column, asked for all granules of a file at once. This is all that
/// predicates see of an index.
///
/// Each function removes from `candidates` the granules in which it is certain that no row is as
/// said, and leaves the others. Removing nothing is always right. A row of an array or tokenised
/// column has several values; "a value" is then any of them. Thread-safe.
class ColumnIndex {
 public:
  virtual ~ColumnIndex() = default;

  /// Some row has a value whose Value::Hash() is `value_hash`.
  virtual void KeepContaining(uint64_t value_hash, GranuleSet* candidates) const = 0;

  /// Some row has a value that is one of `values`. The default asks KeepContaining and
  /// KeepOverlapping for one value after the other; an index that can ask for all of them at once
  /// overrides it. REQUIRES: values of the column's type, ascending.
  virtual void KeepContainingAny(std::span<const Value> values, GranuleSet* candidates) const {
    GranuleSet kept = GranuleSet::None(candidates->num_granules());
    for (const Value& value : values) {
      GranuleSet one = *candidates;
      KeepContaining(value.Hash(), &one);
      if (!one.IsEmpty()) KeepOverlapping({value, value}, &one);
      kept |= one;
    }
    *candidates = std::move(kept);
  }

  /// Some row has a value in `range`. REQUIRES: its bounds have the column's type.
  virtual void KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const = 0;

  /// Some row has a value that differs from `value`: not certain only where all rows have just this
  /// one.
  virtual void KeepDiffering(const Value& value, GranuleSet* candidates) const = 0;

  /// Some row lacks the column (NULL, or an array without elements).
  virtual void KeepMissing(GranuleSet* candidates) const = 0;

  /// Some row has the column.
  virtual void KeepPresent(GranuleSet* candidates) const = 0;
};

}  // namespace blocksieve
