#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/scan.h"
#include "blocksieve/skip_index.h"
#include "lib/bits/packed.h"
#include "lib/postings/postings.h"
#include "lib/predicate/pruning_step.h"
#include "lib/skip/bounds.h"
#include "lib/skip/format.h"

namespace blocksieve::internal {

/// The index of one column over all granules of a file. Immutable, thread-safe.
class ColumnIndex {
 public:
  /// `always` is the set of granules that always match. It and `part` must outlive the index.
  /// Errors: Corruption.
  Status Open(const ColumnHeader& header, ByteView part, const GranuleSet* always);

  /// Removes from `candidates` granules in which no row satisfies the step's condition, and no
  /// others; never those that always match. Removing nothing is always correct, and is all that an
  /// index can do without the part that the step needs. Adds to `explanation`, which may be null.
  /// REQUIRES: values of the column's type
  void Prune(const PruningStep& step, GranuleSet* candidates, ColumnExplanation* explanation) const;

  /// Its IndexParts.
  uint8_t parts() const noexcept;

  /// See SkipIndex::Bounds.
  std::vector<GranuleBounds> Bounds() const;

  const IndexColumnInfo& info() const noexcept { return info_; }
  uint64_t memory_bytes() const noexcept {
    return bounds_memory_.capacity() + bounds_.memory_bytes();
  }

 private:
  bool has_filters() const noexcept { return info_.filters == PartState::kPresent; }
  bool has_bounds() const noexcept { return info_.bounds == PartState::kPresent; }

  uint64_t CountBytes(const PruningStep& step) const noexcept;
  /// Prune without regard to granules that always match.
  void PruneOthers(const PruningStep& step, GranuleSet* candidates) const;
  void PruneByAny(const PruningStep& step, GranuleSet* candidates) const;
  void PruneByMarks(const PackedInts& marks, GranuleSet* candidates) const;

  IndexColumnInfo info_;
  uint64_t num_granules_ = 0;
  const GranuleSet* always_ = nullptr;  // null if empty
  PackedInts missing_;                  // bits
  PackedInts present_;
  Postings postings_;
  std::vector<uint8_t> bounds_memory_;
  BoundsReader bounds_;
};

}  // namespace blocksieve::internal
