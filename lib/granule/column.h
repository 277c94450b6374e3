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
  /// `always` are the granules that always match; it must outlive the column, as must `part`.
  /// Errors: Corruption.
  Status Open(const ColumnHeader& header, ByteView part, const GranuleSet* always, Kernel kernel);

  bool HasFilters() const override { return info_.filters == GranulePart::kPresent; }
  bool HasBounds() const override { return info_.bounds == GranulePart::kPresent; }
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
  /// Applies `keep` to the candidates, but keeps those that always match.
  template <class Keep>
  void PruneUnlessAlwaysMatch(GranuleSet* candidates, Keep keep) const;

  /// Keeps the granules that, by their filters, have one of the values.
  void PruneByFilters(std::span<const uint64_t> hashes, GranuleSet* candidates) const;

  void PruneByMarks(const PackedInts& marks, GranuleSet* candidates) const;

  /// Whether bounds would hardly remove any of the candidates that filters left of so many values.
  bool BoundsAreIdle(size_t num_values, const GranuleSet& candidates) const;

  /// Keeps the granules of which a value is both in the filter and within the bounds.
  void PruneByFiltersAndBounds(std::span<const uint64_t> hashes,
                               std::span<const ValueRun> within_bounds,
                               GranuleSet* candidates) const;

  GranuleColumnInfo info_;
  Kernel kernel_ = Kernel::kScalar;
  uint64_t num_granules_ = 0;
  const GranuleSet* always_ = nullptr;  // null: none
  PackedInts missing_;                  // bits
  PackedInts present_;
  GranuleFilters filters_;  // of one of the two forms
  Postings postings_;
  std::vector<uint8_t> bounds_memory_;
  BoundsReader bounds_;
};

}  // namespace blocksieve::internal
