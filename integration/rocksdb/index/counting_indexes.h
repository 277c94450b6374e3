#pragma once

#include <map>
#include <memory>

#include "blocksieve/granule_index.h"
#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_scan.h"

namespace blocksieve::rocksdb_plugin {

/// The column indexes of one file for predicates, by a column's definition; null for columns that
/// the file has no index of.
class CountingIndexes {
 public:
  /// Counts into `counts`, unless null, what predicates ask. Both must outlive this.
  CountingIndexes(const GranuleIndex& index, ScanExplanation* counts)
      : index_(index), counts_(counts) {}

  /// Refers to this.
  ColumnIndexLookup Lookup() {
    return [this](const Column& column) { return Find(column); };
  }

 private:
  class CountingIndex;

  const ColumnIndex* Find(const Column& column);

  const GranuleIndex& index_;
  ScanExplanation* const counts_;
  std::map<size_t, std::shared_ptr<const ColumnIndex>> indexes_;  // by their number in the file
};

}  // namespace blocksieve::rocksdb_plugin
