#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "blocksieve/granule_index.h"
#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_scan.h"

namespace blocksieve::rocksdb_plugin {

/// What each comparison of a predicate could do with the indexes of the files.
class ComparisonCounts {
 public:
  /// `predicate` must outlive this. `count_granules`: ask the indexes for each comparison alone.
  ComparisonCounts(const Predicate& predicate, bool count_granules);

  /// Whether the predicate skips anything if all its columns have an index.
  bool CanEverSkip() const;

  /// `index` null: the file has none.
  void AddFile(const GranuleIndex* index);

  /// Sets `explanation->comparisons`.
  void Write(ScanExplanation* explanation) const;

 private:
  const Predicate& predicate_;
  std::vector<std::optional<Column>> columns_;   // of the comparisons
  std::vector<std::optional<Predicate>> alone_;  // the comparisons, each as a predicate
  std::vector<ComparisonExplanation> comparisons_;
  std::set<std::string> indexed_;  // definitions of columns that some file has an index of
  bool files_seen_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
