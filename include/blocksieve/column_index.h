#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/value.h"

namespace blocksieve {

/// The values from `low` to `high`. Without one of them the range is open on that side.
struct ValueRange {
  std::optional<Value> low;   ///< None: from the least value.
  std::optional<Value> high;  ///< None: to the greatest value.
  bool includes_low = true;   ///< Whether `low`, if given, is in the range.
  bool includes_high = true;  ///< Whether `high`, if given, is in the range.
};

/// Between which values all those of a granule are, as bytes that compare as the values do.
struct GranuleBounds {
  bool has_values = false;          ///< If not, the others mean nothing.
  std::string low;                  ///< At or below the least value.
  std::optional<std::string> high;  ///< At or above the greatest one; none: not known.
};

/// What a skip index knows about one column, for all granules of a file at once. Predicates see
/// nothing else of an index.
///
/// Each function removes from `candidates` the granules in which certainly no row fits its
/// description, and leaves the others. Removing nothing is always right. A row of an array or
/// tokenised column has several values; "a value" means any of them. Thread-safe.
class ColumnIndex {
 public:
  virtual ~ColumnIndex() = default;

  /// @{
  /// Whether it has what answers equality, and what answers ranges. What it lacks removes next to
  /// nothing, and a predicate that asks nothing else is not said to use the index.
  virtual bool HasFilters() const { return true; }
  virtual bool HasBounds() const { return true; }
  /// @}

  /// The bounds of all granules; none at all if they are not known. Those of granules that always
  /// match mean nothing.
  virtual std::vector<GranuleBounds> Bounds() const { return {}; }

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

  /// Some row has a value in `range`. REQUIRES: its bounds are of the column's type
  virtual void KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const = 0;

  /// Some row has a value other than `value`. Removes only granules in which every value is
  /// `value`. REQUIRES: `value` is of the column's type
  virtual void KeepDiffering(const Value& value, GranuleSet* candidates) const = 0;

  /// Some row lacks the column (NULL, or an array without elements).
  virtual void KeepMissing(GranuleSet* candidates) const = 0;

  /// Some row has the column.
  virtual void KeepPresent(GranuleSet* candidates) const = 0;
};

}  // namespace blocksieve
