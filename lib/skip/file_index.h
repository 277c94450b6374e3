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

/// The opened skip index of one file: a GranuleIndex whose columns have their definitions as names.
/// Immutable and thread-safe. Functions that do not return a Result may throw std::bad_alloc.
class SkipIndex {
 public:
  /// See SkipIndexReader::Open.
  static Result<SkipIndex> Open(ByteView bytes);

  /// 0 for a file without rows.
  size_t num_granules() const noexcept { return static_cast<size_t>(granules_.num_granules()); }

  /// Number of the column in granules(), if one has an equal definition. An equal name is not
  /// enough: it may have been reused for another field.
  std::optional<size_t> FindColumn(const Column& column) const;

  /// Whether a comparison of the predicate can prune granules with this index. If not, all granules
  /// are candidates.
  bool CanPrune(const Predicate& predicate) const;

  /// The granules that may match, including all that do.
  GranuleSet Candidates(const Predicate& predicate) const;

  /// Granules and columns of the index.
  const GranuleIndex& granules() const noexcept { return granules_; }

 private:
  explicit SkipIndex(GranuleIndex granules) noexcept : granules_(std::move(granules)) {}

  const ColumnIndex* Find(const Column& column) const;

  GranuleIndex granules_;
};

}  // namespace blocksieve
