#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/bits/packed.h"
#include "lib/granule/bounds.h"
#include "lib/granule/filters.h"
#include "lib/granule/format.h"
#include "lib/granule/granule_index.h"
#include "lib/postings/postings.h"

namespace blocksieve::internal {

/// One column of an open index.
class GranuleColumn final : public ColumnIndex {
 public:
  /// `always` is the set of granules that always match. It and `part` must outlive the column.
  /// Errors: Corruption.
  Status Open(const ColumnHeader& header, ByteView part, const GranuleSet* always, Kernel kernel);

  bool HasFilters() const override { return info_.filters == PartState::kPresent; }
  bool HasBounds() const override { return info_.bounds == PartState::kPresent; }
  std::vector<GranuleBounds> Bounds() const override {
    return HasBounds() ? bounds_.All(num_granules_) : std::vector<GranuleBounds>();
  }
  void PruneByHash(uint64_t value_hash, GranuleSet* candidates) const override;
  void PruneByAny(std::span<const Value> values, GranuleSet* candidates) const override;
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const override;
  void PruneByInequality(const Value& value, GranuleSet* candidates) const override;
  void PruneByMissing(GranuleSet* candidates) const override;
  void PruneByPresence(GranuleSet* candidates) const override;

  const GranuleColumnInfo& info() const noexcept { return info_; }
  uint64_t memory_bytes() const noexcept {
    return bounds_memory_.capacity() + bounds_.memory_bytes();
  }

 private:
  /// Applies `prune` to the candidates, except those that always match.
  template <class Prune>
  void PruneUnlessAlwaysMatch(GranuleSet* candidates, Prune prune) const;

  /// Prunes granules whose filters contain none of the hashes.
  void PruneByFilters(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  void PruneByMarks(const PackedInts& marks, GranuleSet* candidates) const;

  /// Whether bounds would prune hardly any of the candidates that filters selected.
  bool BoundsAreUseless(size_t num_values, const GranuleSet& candidates) const;

  /// Prunes granules that have no value both in the filter and within the bounds.
  void PruneByFiltersAndBounds(std::span<const uint64_t> hashes,
                               std::span<const ValueIndexRange> within_bounds,
                               GranuleSet* candidates) const;

  GranuleColumnInfo info_;
  Kernel kernel_ = Kernel::kScalar;
  uint64_t num_granules_ = 0;
  const GranuleSet* always_ = nullptr;  // null if empty
  PackedInts missing_;                  // bits
  PackedInts present_;
  GranuleFilters filters_;  // kBitSlices
  Postings postings_;       // other forms
  std::vector<uint8_t> bounds_memory_;
  BoundsReader bounds_;
};

}  // namespace blocksieve::internal
