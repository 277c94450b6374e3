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

/// A set of granules of one file. Bit g of the words is granule g; bits after the last are zero.
class GranuleSet {
 public:
  /// The empty set for a file of `num_granules`.
  static GranuleSet None(size_t num_granules) { return GranuleSet(num_granules, 0); }

  /// The set of all granules of the file.
  static GranuleSet All(size_t num_granules) { return GranuleSet(num_granules, ~uint64_t{0}); }

  /// Number of granules in the file.
  size_t num_granules() const noexcept { return num_granules_; }

  /// Whether the granule is in the set. REQUIRES: granule < num_granules()
  bool Has(size_t granule) const noexcept {
    assert(granule < num_granules_);
    return (words_[granule / 64] >> (granule % 64) & 1) != 0;
  }

  /// Adds a granule. REQUIRES: granule < num_granules()
  void Add(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] |= uint64_t{1} << (granule % 64);
  }

  /// Removes a granule. REQUIRES: granule < num_granules()
  void Remove(size_t granule) noexcept {
    assert(granule < num_granules_);
    words_[granule / 64] &= ~(uint64_t{1} << (granule % 64));
  }

  /// Number of granules in the set. O(num_granules()), like IsEmpty.
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

  /// @{
  /// For combining sets 64 granules at a time. Valid as long as the set. Writers must leave the
  /// bits after the last granule zero.
  std::span<uint64_t> words() noexcept { return words_; }
  std::span<const uint64_t> words() const noexcept { return words_; }
  /// @}

  /// Equal sets of files with the same number of granules.
  friend bool operator==(const GranuleSet&, const GranuleSet&) = default;

 private:
  GranuleSet(size_t num_granules, uint64_t word)
      : num_granules_(num_granules), words_((num_granules + 63) / 64, word) {
    if (word != 0 && num_granules % 64 != 0) words_.back() = word >> (64 - num_granules % 64);
  }

  size_t num_granules_;
  std::vector<uint64_t> words_;
};

/// The values from `low` to `high`.
struct ValueRange {
  std::optional<Value> low;   ///< nullopt: unbounded.
  std::optional<Value> high;  ///< nullopt: unbounded.
  bool includes_low = true;   ///< Whether `low`, if given, is in the range.
  bool includes_high = true;  ///< Whether `high`, if given, is in the range.
};

/// Bounds of a granule's values, as order-preserving codes: see SortKey.
struct GranuleBounds {
  bool has_values = false;          ///< If false, the other members are undefined.
  std::string low;                  ///< At or below the minimum.
  std::optional<std::string> high;  ///< At or above the maximum; nullopt: unknown.
};

/// The index of one column over all granules of a file; the predicates' only interface to indexes.
///
/// Each Prune function removes from `candidates` granules in which no row satisfies its condition,
/// and no others. Removing nothing is always correct. A row of an array or tokenised column has
/// several values; "a value" means any of them. Thread-safe.
class ColumnIndex {
 public:
  virtual ~ColumnIndex() = default;

  /// @{
  /// Whether the index can prune by equality (filters) and by ranges (bounds). Without them it
  /// prunes next to nothing, and a predicate that needs nothing else does not use it.
  virtual bool HasFilters() const { return true; }
  virtual bool HasBounds() const { return true; }
  /// @}

  /// The bounds of all granules; empty if unknown. Undefined for granules that always match.
  virtual std::vector<GranuleBounds> Bounds() const { return {}; }

  /// Some row has a value whose Value::Hash() is `value_hash`.
  virtual void PruneByHash(uint64_t value_hash, GranuleSet* candidates) const = 0;

  /// Some row has one of `values`. The default calls PruneByHash and PruneByRange for each; an
  /// index that can probe all at once overrides it. REQUIRES: values of the column's type,
  /// ascending.
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

  /// Some row has a value other than `value`. REQUIRES: `value` is of the column's type
  virtual void PruneByInequality(const Value& value, GranuleSet* candidates) const = 0;

  /// Some row lacks the column (NULL, or an array without elements).
  virtual void PruneByMissing(GranuleSet* candidates) const = 0;

  /// Some row has the column.
  virtual void PruneByPresence(GranuleSet* candidates) const = 0;
};

}  // namespace blocksieve
