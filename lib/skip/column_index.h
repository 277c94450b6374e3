#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
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

class ColumnIndex;

/// What every row that matches has in a column: a value between two, or one with one of the hashes.
struct DigestStep {
  size_t column = 0;  ///< Number among the predicate's.
  uint64_t low = 0;   ///< A SortHead, as the next.
  uint64_t high = std::numeric_limits<uint64_t>::max();
  std::span<const uint64_t> hashes = {};  ///< None: not known.
};

/// What tells of most values that a file lacks them: asking thousands of indexes one by one costs
/// their memory, which is in no cache. Valid as long as the index. By default it rules out nothing.
struct ColumnDigest {
  const ColumnIndex* index = nullptr;  ///< Null: the file has none.
  uint64_t low = 0;  ///< No value has a SortHead below it, or above `high`; above that: no values.
  uint64_t high = std::numeric_limits<uint64_t>::max();
  Retrieval map = {};       ///< Of all values, with the lowest bits of their fingerprints.
  uint32_t check_bits = 0;  ///< As many; 0: there is no map.

  bool IsOutside(const DigestStep& step) const noexcept {
    return step.high < low || step.low > high;
  }

  /// Whether no row has what the step demands.
  bool RulesOut(const DigestStep& step) const noexcept {
    const auto is_lacked = [this](uint64_t hash) {
      return ((map.GetLow(hash, check_bits) ^ RibbonFingerprint(hash)) & LowBits(check_bits)) != 0;
    };
    return IsOutside(step) ||
           (check_bits != 0 && !step.hashes.empty() && std::ranges::all_of(step.hashes, is_lacked));
  }

  /// Prefetches what RulesOut reads.
  void Prefetch(const DigestStep& step) const noexcept {
    if (check_bits == 0 || IsOutside(step)) return;
    for (const uint64_t hash : step.hashes) map.Prefetch(hash);
  }
};

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

  ColumnDigest Digest() const;

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
