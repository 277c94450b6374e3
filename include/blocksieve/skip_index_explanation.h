#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace blocksieve {

/// One comparison of a scan's predicate.
struct ComparisonExplanation {
  std::string comparison;     ///< Its text.
  std::string column;         ///< Empty for TRUE and FALSE.
  bool is_used = false;       ///< It ruled, or could have ruled, granules out.
  std::string reason;         ///< How it skips, or why not.
  uint64_t num_files = 0;     ///< Files with an index of the column, equally defined.
  uint64_t num_granules = 0;  ///< In these files.
  uint64_t selected = 0;      ///< Of these, what it leaves by itself; only if that was asked for.
};

/// One indexed column, as the predicate as a whole asked about it.
struct ColumnExplanation {
  std::string name;               ///< Column::name.
  uint64_t num_probes = 0;        ///< Questions to indexes.
  uint64_t index_bytes = 0;       ///< Of filters, bounds and marks that these touched, at most.
  std::set<std::string> filters;  ///< What the files have: see GranuleFiltersName.
};

/// What a scan planned and did so far. Numbers that an engine does not count are 0.
struct ScanExplanation {
  bool is_full_scan = false;     ///< Everything is read.
  std::string full_scan_reason;  ///< Why the index was not used at all; else empty.
  std::vector<ComparisonExplanation> comparisons;  ///< In the order of the text.
  std::vector<ColumnExplanation> columns;          ///< Those whose indexes were asked.

  uint64_t num_files = 0;                  ///< That the scan covers, when it begins.
  uint64_t files_without_index = 0;        ///< Or without a usable one, for this predicate.
  uint64_t files_skipped = 0;              ///< Nothing of them had to be read.
  uint64_t files_too_new = 0;              ///< Of these: written after the snapshot.
  uint64_t files_vanished = 0;             ///< Compacted away between planning and reading.
  std::vector<std::string> file_problems;  ///< "000012.sst: why it cannot skip", at most 100.

  uint64_t num_granules = 0;           ///< Of files with an index.
  uint64_t granules_selected = 0;      ///< Of these, those that may match.
  uint64_t granules_always_match = 0;  ///< Of the selected: merges, blobs, entities.
  uint64_t granules_too_new = 0;       ///< Written after the snapshot.
  uint64_t granules_read = 0;  ///< Of the selected, with an order: those read by their bounds.
  uint64_t index_bytes_touched = 0;  ///< Of filters, bounds, marks, and keys of selected files.

  uint64_t ranges_read = 0;     ///< Key ranges read through the merged view; rows are final.
  uint64_t runs_read = 0;       ///< Runs of granules read file by file; rows are re-checked.
  uint64_t rows_planned = 0;    ///< Of the files, to be looked at; an estimate if all are.
  uint64_t rows_read = 0;       ///< Rows looked at, of memtables, files and ranges.
  uint64_t rows_rechecked = 0;  ///< Looked up again, at the snapshot.
  uint64_t rows_stale = 0;      ///< Of these: deleted or overwritten.
  uint64_t rows_returned = 0;   ///< So far, with those counted.
  uint64_t rows_counted = 0;    ///< Matching rows that were counted without being read.

  /// Blocks read from storage, not found in the block cache. Only if that was asked for.
  uint64_t data_blocks_read = 0;
  uint64_t other_blocks_read = 0;  ///< Index and filter blocks.
  uint64_t block_bytes_read = 0;   ///< Of both.

  /// For people, several lines.
  std::string ToText() const;
};

}  // namespace blocksieve
