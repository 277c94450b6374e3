#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"
#include "lib/granule/granule_index.h"
#include "lib/predicate/column_index.h"

namespace blocksieve {

/// The opened skip index of one file: what a SkipIndexReader holds. Columns are named by their
/// definitions in a GranuleIndex, which is what stores the index. Thread-safe, as nothing changes
/// after Open. Functions that return no Result may throw std::bad_alloc.
class SkipIndex {
 public:
  /// As SkipIndexReader::Open.
  static Result<SkipIndex> Open(ByteView bytes);

  /// 0 for a file without rows.
  size_t num_granules() const noexcept { return static_cast<size_t>(granules_.num_granules()); }

  /// The column's number in granules(), if the index has one that is defined equally. A name is not
  /// enough: it may have been dropped and given to another field.
  std::optional<size_t> FindColumn(const Column& column) const;

  /// Whether some comparison of the predicate can rule granules out with the columns of this index.
  /// If not, all granules are candidates.
  bool CanPrune(const Predicate& predicate) const;

  /// The granules that may hold a row that matches. Never lacks one that does.
  GranuleSet Candidates(const Predicate& predicate) const;

  /// All else that the index knows.
  const GranuleIndex& granules() const noexcept { return granules_; }

 private:
  explicit SkipIndex(GranuleIndex granules) noexcept : granules_(std::move(granules)) {}

  const ColumnIndex* Find(const Column& column) const;

  GranuleIndex granules_;
};

}  // namespace blocksieve
