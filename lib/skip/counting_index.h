#pragma once

#include <map>

#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"

namespace blocksieve::internal {

/// The column indexes of one file, which count what predicates ask them.
class CountingIndexes {
 public:
  /// Counts into the columns of `explanation`. Both must outlive this.
  CountingIndexes(const SkipIndexReader& index, ScanExplanation* explanation)
      : index_(index), explanation_(*explanation) {}

  /// By a column's definition; null for columns that the file has no index of. Refers to this.
  ColumnIndexLookup Lookup() {
    return [this](const Column& column) { return Find(column); };
  }

 private:
  class CountingIndex;

  const ColumnIndex* Find(const Column& column);

  const SkipIndexReader& index_;
  ScanExplanation& explanation_;
  std::map<size_t, std::shared_ptr<const ColumnIndex>> indexes_;  // by their number in the file
};

}  // namespace blocksieve::internal
