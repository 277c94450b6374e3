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
  /// False: full scan.
  bool use_index = true;

  /// Probe the indexes for each comparison alone, too, which doubles the time.
  bool count_comparisons = true;
};

/// Prunes the granules of a scan's files by their skip indexes, file by file, and records the
/// probes and results in an explanation.
///
/// Call order: ( PruneFile Select? )* Finish. REQUIRES, for all but Finish: CanPrune()
class ScanPruner {
 public:
  /// Both arguments must outlive this.
  ScanPruner(const Predicate& predicate, ScanExplanation* explanation,
             const ScanPrunerOptions& options = {});

  /// Whether any index could prune granules. If not, the explanation has the reason for a full
  /// scan.
  bool CanPrune() const { return explanation_.full_scan_reason.empty(); }

  /// The granules of a file that may match. nullopt if the whole file must be read: its `index` is
  /// null or cannot prune, or `problem` is not empty. The reason is recorded under the file's
  /// `name`.
  std::optional<GranuleSet> PruneFile(const SkipIndex* index, std::string_view name,
                                      std::string problem);

  /// Records the granules of a file that will be read: those of PruneFile, or fewer. Returns the
  /// number of their rows.
  uint64_t Select(const SkipIndex& index, const GranuleSet& granules);

  /// Completes the explanation, which may then demand a full scan.
  void Finish();

 private:
  /// A comparison of the predicate.
  struct Comparison {
    std::optional<Column> column;    // nullopt for TRUE and FALSE
    std::optional<Predicate> alone;  // the comparison as a predicate, if it is counted
  };

  /// A column in the files' indexes.
  struct IndexedColumn {
    bool has_filters = false;
    bool has_bounds = false;
    uint64_t files = 0;
    uint64_t without_filters = 0;  // files whose filters were left out for size
    uint64_t without_bounds = 0;

    std::string LeftOut() const;
  };

  void RecordParts(const SkipIndex& index);
  void CountComparisons(const SkipIndex& index);

  const Predicate& predicate_;
  ScanExplanation& explanation_;
  std::vector<Comparison> comparisons_;           // in the order of explanation_.comparisons
  std::map<std::string, IndexedColumn> indexed_;  // by definition
  bool has_pruned_file_ = false;
};

}  // namespace blocksieve::internal
