#pragma once

#include <map>
#include <memory>

#include "blocksieve/predicate.h"
#include "integration/rocksdb/granule_catalog.h"
#include "integration/rocksdb/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// The column indexes of one file for predicates, by a column's definition; null for columns that
/// the file has no index of.
class CountingIndexes {
 public:
  /// Counts into `counts`, unless null, what predicates ask. REQUIRES: file.index() != nullptr.
  /// Both must outlive this.
  CountingIndexes(const FileIndex& file, ScanExplanation* counts) : file_(file), counts_(counts) {}

  /// Refers to this.
  ColumnIndexLookup Lookup() {
    return [this](const Column& column) { return Find(column); };
  }

 private:
  class CountingIndex;

  const ColumnIndex* Find(const Column& column);

  const FileIndex& file_;
  ScanExplanation* const counts_;
  std::map<size_t, std::shared_ptr<const ColumnIndex>> indexes_;  // by their number in the file
};

}  // namespace blocksieve::rocksdb_plugin
