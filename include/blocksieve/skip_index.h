#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"

/// \file
/// The skip index of one file: from its rows to the granules that may match a predicate.

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
  std::set<std::string> filters;  ///< "bit slices", "postings", or why there are none.
};

/// Plan of a scan, and what it has done so far. Numbers that an engine does not count are 0.
struct BLOCKSIEVE_EXPORT ScanExplanation {
  bool is_full_scan = false;                       ///< Everything is read.
  std::string full_scan_reason;                    ///< Why no index was used; else empty.
  std::vector<ComparisonExplanation> comparisons;  ///< In the order of the text.
  std::vector<ColumnExplanation> columns;          ///< Columns whose indexes were probed.

  uint64_t num_files = 0;                  ///< Files in the scan when it begins.
  uint64_t files_without_index = 0;        ///< Including an index that this predicate cannot use.
  uint64_t files_pruned = 0;               ///< No granule of the file may match.
  uint64_t files_too_new = 0;              ///< Pruned files written after the snapshot.
  uint64_t files_vanished = 0;             ///< Compacted away between planning and reading.
  std::vector<std::string> file_problems;  ///< "000012.sst: why it is not pruned", at most 100.

  uint64_t num_granules = 0;           ///< Granules of files with an index.
  uint64_t granules_selected = 0;      ///< Granules that may match.
  uint64_t granules_always_match = 0;  ///< Selected for a merge operand, blob or entity.
  uint64_t granules_too_new = 0;       ///< Written after the snapshot, not selected.
  uint64_t granules_read = 0;          ///< With ORDER BY: selected ones read in bounds order.
  uint64_t index_bytes_touched = 0;    ///< Filters, bounds, marks; keys of selected files.

  uint64_t key_ranges_read = 0;      ///< Key ranges read through the merged view; rows are final.
  uint64_t granule_ranges_read = 0;  ///< Adjacent granules of one file; their rows are re-checked.
  uint64_t rows_planned = 0;         ///< File rows to read; an estimate in a full scan.
  uint64_t rows_read = 0;            ///< Rows read from memtables, files and key ranges.
  uint64_t rows_rechecked = 0;       ///< Rows looked up again at the snapshot.
  uint64_t rows_stale = 0;           ///< Re-checked rows that were deleted or overwritten.
  uint64_t rows_returned = 0;        ///< Rows returned so far, including rows_counted.
  uint64_t rows_counted = 0;         ///< Matching rows counted without being read.

  uint64_t data_blocks_read = 0;   ///< Read from storage, not the block cache; 0 unless requested.
  uint64_t other_blocks_read = 0;  ///< The same for index and filter blocks.
  uint64_t block_bytes_read = 0;   ///< Size of both.
  std::string ToText() const;      ///< For people, several lines.
};

class SkipIndex;

inline constexpr uint64_t kDefaultGranuleRows = 64;         ///< One or two blocks of small rows.
inline constexpr uint64_t kDefaultGranuleBytes = 16 << 10;  ///< Default index granularity.
inline constexpr uint64_t kDefaultMaxIndexBytes = 8 << 20;  ///< Default budget for an index.

/// Options of a SkipIndexBuilder.
struct SkipIndexBuilderOptions {
  ColumnList columns = {};  ///< Indexed columns: 1 to 256, with distinct names.

  /// Index granularity: a granule closes when it has this many rows, or bytes of rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;
  uint64_t granule_bytes = kDefaultGranuleBytes;  ///< See granule_rows.

  /// FPR of the filters: of the granules that lack a value, the share that may match. 1e-7 to 0.5.
  double target_fpr = 0.001;

  /// Budget for the whole index, in bytes; the largest filters are dropped first. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;
};

/// Builds the skip index of one file while the file is written. Memory: 8 bytes per distinct value,
/// granule and column. Not thread-safe, but may move between threads. A moved-from builder may only
/// be destroyed or assigned to.
///
/// Call order: ( (AddRow|AddEmptyRow|AddAlwaysMatchingRow) NoteSequence? CloseGranule? )* Finish
///
/// Errors before Finish (out of memory) are returned by Finish, so that an engine's write path
/// handles them in one place: the file then has no index and is read as a whole.
class BLOCKSIEVE_EXPORT SkipIndexBuilder {
 public:
  /// Errors: InvalidArgument (the option, its value, the allowed range), ResourceExhausted
  /// (memory).
  static Result<SkipIndexBuilder> Create(const SkipIndexBuilderOptions& options);

  SkipIndexBuilder(SkipIndexBuilder&&) noexcept;             ///< See above.
  SkipIndexBuilder& operator=(SkipIndexBuilder&&) noexcept;  ///< See above.
  ~SkipIndexBuilder();

  /// @{
  /// Adds the next row. Keys are in the engine's order, whatever it is. `row_bytes` count towards
  /// granule_bytes; by default those of key and row.
  void AddRow(std::string_view key, std::string_view row, uint64_t row_bytes) noexcept;
  void AddRow(std::string_view key, std::string_view row) noexcept {
    AddRow(key, row, key.size() + row.size());
  }
  /// @}

  /// Adds a row without values: engines that number granules need a row in each.
  void AddEmptyRow(std::string_view key) noexcept;

  /// Adds a row whose value is not known when it is written (a merge operand, a reference): its
  /// granule may match every predicate.
  void AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// Records the current row's sequence number; the index stores each granule's smallest.
  void NoteSequence(uint64_t sequence) noexcept;

  /// Replaces granule_rows and granule_bytes from now on. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept;

  /// Ends the granule after the current row. Does nothing if the granule is empty. Best called
  /// where a data block ends: a granule that spans two blocks costs two reads.
  void CloseGranule() noexcept;

  /// Returns the index, in the format of lib/FORMAT.md, even without rows.
  /// Errors: ResourceExhausted (memory, or the granules' keys alone exceed max_index_bytes).
  /// REQUIRES: Finish() has not been called
  Result<std::string> Finish() noexcept;

  /// After Finish: a max_index_bytes that drops nothing, whatever the budget was; at most 32 bytes
  /// per column above the minimum. 0 if Finish failed before it was known.
  uint64_t needed_bytes() const noexcept;

 private:
  struct Parts;
  explicit SkipIndexBuilder(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Reads the skip index of one file. Immutable, thread-safe. A moved-from reader may only be
/// destroyed or assigned to.
class BLOCKSIEVE_EXPORT SkipIndexReader {
 public:
  /// Opens an index and checks every byte, about 0.1 ms per MB: a flipped bit would hide rows.
  /// `bytes` must outlive the reader. Errors: Corruption (truncated, foreign, damaged),
  /// NotSupported (newer version), ResourceExhausted (memory). On error, read the whole file.
  static Result<SkipIndexReader> Open(ByteView bytes);

  SkipIndexReader(SkipIndexReader&&) noexcept;             ///< See above.
  SkipIndexReader& operator=(SkipIndexReader&&) noexcept;  ///< See above.
  ~SkipIndexReader();

  size_t num_granules() const noexcept;  ///< 0 for a file without rows.

  /// Whether each granule may match the predicate. Never false for a granule with a matching row.
  std::vector<bool> Candidates(const Predicate& predicate) const;

 private:
  explicit SkipIndexReader(std::unique_ptr<const SkipIndex> index) noexcept;

  std::unique_ptr<const SkipIndex> index_;
};

}  // namespace blocksieve
