#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/column.h"

namespace blocksieve {

/// A set of granules of one file. Bit g of its words is granule g; bits beyond the last granule are
/// zero.
class GranuleSet {
 public:
  /// The empty set, for a file of `num_granules`.
  static GranuleSet None(size_t num_granules) { return GranuleSet(num_granules, 0); }

  /// The set of all granules.
  static GranuleSet All(size_t num_granules) { return GranuleSet(num_granules, ~uint64_t{0}); }

  /// Granules of the file, in the set or not.
  size_t num_granules() const noexcept { return num_granules_; }

  /// Whether the granule is in the set. REQUIRES: granule < num_granules()
  bool Has(size_t granule) const noexcept {
    assert(granule < num_granules_);
    return (words_[granule / 64] >> (granule % 64) & 1) != 0;
  }

  /// Puts it into the set. REQUIRES: granule < num_granules()
  void Add(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] |= uint64_t{1} << (granule % 64);
  }

  /// Takes it out of the set. REQUIRES: granule < num_granules()
  void Remove(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] &= ~(uint64_t{1} << (granule % 64));
  }

  /// Granules in the set. O(num_granules()), as is IsEmpty.
  size_t Count() const noexcept {
    size_t count = 0;
    for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
    return count;
  }

  /// Whether Count() is 0.
  bool IsEmpty() const noexcept {
    for (const uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }

  /// Intersection. REQUIRES: the same number of granules.
  GranuleSet& operator&=(const GranuleSet& other) noexcept {
    assert(num_granules_ == other.num_granules_);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }

  /// Union. REQUIRES: the same number of granules.
  GranuleSet& operator|=(const GranuleSet& other) noexcept {
    assert(num_granules_ == other.num_granules_);
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }

  /// For combining sets 64 granules at a time. Valid as long as the set. Whoever writes leaves the
  /// bits beyond the last granule zero.
  std::span<uint64_t> words() noexcept { return words_; }
  /// The same for reading.
  std::span<const uint64_t> words() const noexcept { return words_; }

  /// Equal sets, of files with equally many granules.
  friend bool operator==(const GranuleSet&, const GranuleSet&) = default;

 private:
  GranuleSet(size_t num_granules, uint64_t word)
      : num_granules_(num_granules), words_((num_granules + 63) / 64, word) {
    if (word != 0 && num_granules % 64 != 0) words_.back() = word >> (64 - num_granules % 64);
  }

  size_t num_granules_;
  std::vector<uint64_t> words_;
};

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
  virtual void PruneByHash(uint64_t value_hash, GranuleSet* candidates) const = 0;

  /// Some row has a value that is one of `values`. The default asks PruneByHash and
  /// PruneByRange for one value after the other; an index that can ask for all of them at once
  /// overrides it. REQUIRES: values of the column's type, ascending.
  virtual void PruneByAny(std::span<const Value> values, GranuleSet* candidates) const {
    GranuleSet kept = GranuleSet::None(candidates->num_granules());
    for (const Value& value : values) {
      GranuleSet one = *candidates;
      PruneByHash(value.Hash(), &one);
      if (!one.IsEmpty()) PruneByRange({value, value}, &one);
      kept |= one;
    }
    *candidates = std::move(kept);
  }

  /// Some row has a value in `range`. REQUIRES: its bounds are of the column's type
  virtual void PruneByRange(const ValueRange& range, GranuleSet* candidates) const = 0;

  /// Some row has a value other than `value`. Removes only granules in which every value is
  /// `value`. REQUIRES: `value` is of the column's type
  virtual void PruneByInequality(const Value& value, GranuleSet* candidates) const = 0;

  /// Some row lacks the column (NULL, or an array without elements).
  virtual void PruneByMissing(GranuleSet* candidates) const = 0;

  /// Some row has the column.
  virtual void PruneByPresence(GranuleSet* candidates) const = 0;
};

}  // namespace blocksieve
