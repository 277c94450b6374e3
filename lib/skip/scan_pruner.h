#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"
#include "lib/predicate/column_index.h"
#include "lib/skip/file_index.h"

namespace blocksieve::internal {

struct ScanPrunerOptions {
  /// False: everything is to be read, whatever the indexes are.
  bool use_index = true;

  /// Also ask the indexes for each comparison alone, which takes as long again.
  bool count_comparisons = true;
};

/// Asks the skip indexes of a scan's files for a predicate, one file after the other, and notes in
/// an explanation what was asked and answered.
///
/// Call order: ( PruneFile Select? )* Finish. REQUIRES, for all but Finish: CanPrune()
class ScanPruner {
 public:
  /// Both must outlive this.
  ScanPruner(const Predicate& predicate, ScanExplanation* explanation,
             const ScanPrunerOptions& options = {});

  /// Whether any index could rule anything out. If not, the explanation says why everything is to
  /// be read.
  bool CanPrune() const { return explanation_.full_scan_reason.empty(); }

  /// The granules of a file that may match, none if it is to be read as a whole: its `index` is
  /// null, or it has another `problem`, or its columns are of no use. What is wrong is noted under
  /// the file's `name`.
  std::optional<GranuleSet> PruneFile(const SkipIndex* index, std::string_view name,
                                      std::string problem);

  /// Notes which granules of a file are going to be read: those of PruneFile, or fewer. Returns the
  /// number of their rows.
  uint64_t Select(const SkipIndex& index, const GranuleSet& granules);

  /// Completes the explanation. Everything is to be read if it says so.
  void Finish();

 private:
  /// A comparison of the predicate.
  struct Comparison {
    std::optional<Column> column;    // none: TRUE and FALSE
    std::optional<Predicate> alone;  // the comparison as a predicate, if it is to be counted
  };

  /// What the files' indexes have of a column.
  struct IndexedColumn {
    bool has_filters = false;
    bool has_bounds = false;
    uint64_t files = 0;
    uint64_t without_filters = 0;  // files in which they were left out for size
    uint64_t without_bounds = 0;

    std::string LeftOut() const;
  };

  void NoteParts(const SkipIndex& index);
  void CountComparisons(const SkipIndex& index);

  const Predicate& predicate_;
  ScanExplanation& explanation_;
  std::vector<Comparison> comparisons_;           // as those of the explanation
  std::map<std::string, IndexedColumn> indexed_;  // by definition
  bool has_asked_ = false;
};

}  // namespace blocksieve::internal
