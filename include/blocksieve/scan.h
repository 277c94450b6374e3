#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"

/// \file
/// Scans over many files with skip indexes: which granules of each to read, and an explanation.

namespace blocksieve {

/// One comparison of a scan's predicate.
struct ComparisonExplanation {
  std::string comparison;          ///< Its text.
  std::string column;              ///< Empty for TRUE and FALSE.
  bool is_used = false;            ///< Whether it can prune granules within the predicate.
  std::string reason;              ///< How it prunes, or why not.
  uint64_t num_files = 0;          ///< Files with an index of an equal column.
  uint64_t num_granules = 0;       ///< Granules of these files.
  uint64_t granules_selected = 0;  ///< Granules that may match it alone; 0 unless requested.
};

/// Use of one indexed column by the whole predicate.
struct ColumnExplanation {
  std::string name;               ///< Column::name.
  uint64_t num_probes = 0;        ///< Index probes.
  uint64_t index_bytes = 0;       ///< Upper bound of the filters, bounds and marks they read.
  std::set<std::string> filters;  ///< FiltersName of the files' columns: "postings", ...
};

/// Plan of a scan, and what it has done so far. Numbers that an engine does not count are 0.
struct BLOCKSIEVE_EXPORT ScanExplanation {
  bool is_full_scan = false;                       ///< Everything is read.
  std::string full_scan_reason;                    ///< Why no index was used; else empty.
  std::vector<ComparisonExplanation> comparisons;  ///< In the order of the text.
  std::vector<ColumnExplanation> columns;          ///< Columns whose indexes were probed.

  uint64_t num_files = 0;                  ///< Files in the scan, but for those not reached.
  uint64_t files_not_reached = 0;          ///< So far, by a scan with a limit: not looked at.
  uint64_t files_without_index = 0;        ///< Including an index that this predicate cannot use.
  uint64_t files_pruned = 0;               ///< No granule of the file may match.
  uint64_t files_too_new = 0;              ///< Pruned files written after the snapshot.
  uint64_t files_vanished = 0;             ///< Compacted away between planning and reading.
  std::vector<std::string> file_problems;  ///< "000012.sst: why it is not pruned", at most 100.

  uint64_t num_granules = 0;           ///< Granules of files with an index.
  uint64_t granules_selected = 0;      ///< Granules that may match.
  uint64_t granules_always_match = 0;  ///< Selected for a merge operand, blob or entity.
  uint64_t granules_too_new = 0;       ///< Written after the snapshot, not selected.
  uint64_t granules_counted = 0;       ///< Selected by a count, which need not read them.
  uint64_t granules_read = 0;          ///< With ORDER BY: selected ones read in bounds order.
  uint64_t index_bytes_touched = 0;    ///< Filters, bounds, marks; keys of selected files.

  uint64_t key_ranges_read = 0;      ///< Key ranges read through the merged view; rows are final.
  uint64_t granule_ranges_read = 0;  ///< Adjacent granules of one file; their rows are re-checked.
  uint64_t rows_planned = 0;         ///< File rows to read; an estimate in a full scan.
  uint64_t rows_read = 0;            ///< Rows read from memtables, files and key ranges.
  uint64_t rows_rechecked = 0;       ///< Rows looked up again at the snapshot.
  uint64_t rows_stale = 0;           ///< Re-checked rows that were deleted or overwritten.
  uint64_t rows_returned = 0;        ///< Rows returned, or counted, so far.

  uint64_t data_blocks_read = 0;   ///< Read from storage, not the block cache; 0 unless requested.
  uint64_t other_blocks_read = 0;  ///< The same for index and filter blocks.
  uint64_t block_bytes_read = 0;   ///< Size of both.
  std::string ToText() const;      ///< For people, several lines.
};

/// Options of a ScanPruner.
struct ScanPrunerOptions {
  bool use_index = true;  ///< False: full scan.

  /// Probe the indexes for all granules with each comparison, not only for those that the ones
  /// before it leave.
  bool count_comparisons = true;
};

/// Prunes the granules of a scan's files by their skip indexes, file by file, and records the
/// probes and results in an explanation.
///
/// Call order: ( ( PruneFile Select? )* Finish )*. REQUIRES, for all but Finish: CanPrune()
class BLOCKSIEVE_EXPORT ScanPruner {
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

  /// Completes the explanation, which may then demand a full scan unless files are not reached yet.
  void Finish();

 private:
  void CountComparisons(const SkipIndex& index, const internal::ColumnIndexes& indexes,
                        const std::vector<size_t>& columns, const std::vector<uint64_t>& selected);
  void CountProbes(std::vector<ColumnExplanation>* of_file);

  const Predicate& predicate_;
  ScanExplanation& explanation_;
  const bool counts_comparisons_;
  bool has_pruned_file_ = false;
  // By column of the predicate, in all files.
  std::vector<ColumnExplanation> columns_;
  std::vector<uint8_t> parts_;  // of the index of some file
};

}  // namespace blocksieve
