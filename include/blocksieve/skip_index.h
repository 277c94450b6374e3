#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"

/// \file
/// A skip index of one file, from rows to candidates: the builder takes each row as the file is
/// written, the reader says which granules of the file may hold a row that matches a predicate.

namespace blocksieve {

/// One comparison of a scan's predicate.
struct ComparisonExplanation {
  std::string comparison;     ///< Its text.
  std::string column;         ///< Empty for TRUE and FALSE.
  bool is_used = false;       ///< It ruled, or could have ruled, granules out.
  std::string reason;         ///< How it skips, or why not.
  uint64_t num_files = 0;     ///< Files with an index of the column, equally defined.
  uint64_t num_granules = 0;  ///< In these files.
  /// Granules that may match this comparison alone; 0 unless requested.
  uint64_t granules_selected = 0;
};

/// One indexed column, as the predicate as a whole asked about it.
struct ColumnExplanation {
  std::string name;               ///< Column::name.
  uint64_t num_probes = 0;        ///< Questions to indexes.
  uint64_t index_bytes = 0;       ///< Of filters, bounds and marks that these touched, at most.
  std::set<std::string> filters;  ///< What the files have: "bit slices", "postings" or why none.
};

/// What a scan planned and did so far. Numbers that an engine does not count are 0.
struct BLOCKSIEVE_EXPORT ScanExplanation {
  bool is_full_scan = false;     ///< Everything is read.
  std::string full_scan_reason;  ///< Why the index was not used at all; else empty.
  std::vector<ComparisonExplanation> comparisons;  ///< In the order of the text.
  std::vector<ColumnExplanation> columns;          ///< Those whose indexes were asked.

  uint64_t num_files = 0;                  ///< That the scan covers, when it begins.
  uint64_t files_without_index = 0;        ///< Or without a usable one, for this predicate.
  uint64_t files_pruned = 0;               ///< Nothing of them had to be read.
  uint64_t files_too_new = 0;              ///< Of these: written after the snapshot.
  uint64_t files_vanished = 0;             ///< Compacted away between planning and reading.
  std::vector<std::string> file_problems;  ///< "000012.sst: why it cannot skip", at most 100.

  uint64_t num_granules = 0;           ///< Of files with an index.
  uint64_t granules_selected = 0;      ///< Of these, those that may match.
  uint64_t granules_always_match = 0;  ///< Of the selected: merges, blobs, entities.
  uint64_t granules_too_new = 0;       ///< Written after the snapshot.
  uint64_t granules_read = 0;  ///< Of the selected, with an order: those read by their bounds.
  uint64_t index_bytes_touched = 0;  ///< Of filters, bounds, marks, and keys of selected files.

  uint64_t key_ranges_read = 0;      ///< Key ranges read through the merged view; rows are final.
  uint64_t granule_ranges_read = 0;  ///< Adjacent granules of one file; their rows are re-checked.
  uint64_t rows_planned = 0;         ///< Of the files, to be looked at; an estimate if all are.
  uint64_t rows_read = 0;            ///< Rows looked at, of memtables, files and ranges.
  uint64_t rows_rechecked = 0;       ///< Looked up again, at the snapshot.
  uint64_t rows_stale = 0;           ///< Of these: deleted or overwritten.
  uint64_t rows_returned = 0;        ///< So far, with those counted.
  uint64_t rows_counted = 0;         ///< Matching rows that were counted without being read.

  /// Blocks read from storage, not found in the block cache. Only if that was asked for.
  uint64_t data_blocks_read = 0;
  uint64_t other_blocks_read = 0;  ///< Index and filter blocks.
  uint64_t block_bytes_read = 0;   ///< Of both.

  /// For people, several lines.
  std::string ToText() const;
};

class SkipIndex;

/// @{
/// Defaults of the options below. Granules that end with data blocks are better than granules of a
/// fixed number of rows: a granule that lies across two blocks costs two reads.
inline constexpr uint64_t kDefaultGranuleRows = 64;  ///< One or two blocks of small rows.
inline constexpr uint64_t kDefaultGranuleBytes = 16 << 10;
inline constexpr uint64_t kDefaultMaxIndexBytes = 8 << 20;
/// @}

/// What a SkipIndexBuilder is to build.
struct SkipIndexBuilderOptions {
  /// The indexed columns: 1 to 256, of distinct names.
  ColumnList columns = {};

  /// A granule closes when it has so many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// And when its rows take so many bytes. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Share of the granules without a value that are read all the same; 1e-7 to 0.5.
  double target_fpr = 0.001;

  /// Bytes of the whole index. What exceeds it is left out, the largest filters first. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;
};

/// Makes the skip index of one file while the file is written. Memory: 8 bytes per distinct value,
/// granule and column. Not thread-safe, but may move between threads.
///
/// Call order: ( (AddRow | AddEmptyRow | AddAlwaysMatchingRow) NoteSequence? CloseGranule? )*
/// Finish
///
/// Problems on the way (memory is short) come out in Finish, so that an engine's write path has one
/// place to handle them: the file then has no index and is read as a whole.
class BLOCKSIEVE_EXPORT SkipIndexBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range;
  /// ResourceExhausted (memory).
  static Result<SkipIndexBuilder> Create(const SkipIndexBuilderOptions& options);

  /// @{
  /// What was moved from may only be destroyed or assigned to.
  SkipIndexBuilder(SkipIndexBuilder&&) noexcept;
  SkipIndexBuilder& operator=(SkipIndexBuilder&&) noexcept;
  /// @}
  ~SkipIndexBuilder();

  /// The next row, in the engine's own order of keys, which may be any. Its `row_bytes` count
  /// towards granule_bytes.
  void AddRow(std::string_view key, std::string_view row, uint64_t row_bytes) noexcept;

  /// The same for a row that takes the bytes of its key and its value.
  void AddRow(std::string_view key, std::string_view row) noexcept {
    AddRow(key, row, key.size() + row.size());
  }

  /// A row that lacks all columns. For engines whose granules are known by their numbers: a granule
  /// without any row would not be counted.
  void AddEmptyRow(std::string_view key) noexcept;

  /// A row whose value is not known when it is written (a merge operand, a reference): its granule
  /// is a candidate for every predicate.
  void AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// The granule keeps the least of these numbers.
  void NoteSequence(uint64_t sequence) noexcept;

  /// From now on, these limits take the place of granule_rows and granule_bytes. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept;

  /// Ends the granule after the current row; without effect if it is empty.
  void CloseGranule() noexcept;

  /// The finished index, in the format of lib/FORMAT.md; also of no rows. To be called once.
  /// Errors: ResourceExhausted (memory, or max_index_bytes is less than even the keys take).
  Result<std::string> Finish() noexcept;

  /// After Finish: a max_index_bytes with which nothing would have been left out, whatever it was;
  /// at most 32 bytes per column more than the least. 0 if Finish failed before it knew.
  uint64_t needed_bytes() const noexcept;

 private:
  struct Parts;
  explicit SkipIndexBuilder(std::unique_ptr<Parts> parts) noexcept;

  std::unique_ptr<Parts> parts_;
};

/// Reads the skip index of one file. Thread-safe, as nothing changes after Open. What was moved
/// from may only be destroyed or assigned to. Functions that return no Result may throw
/// std::bad_alloc.
class BLOCKSIEVE_EXPORT SkipIndexReader {
 public:
  /// Opens an index and checks every byte of it, which takes about 0.1 ms per MB: a flipped bit
  /// would hide rows. `bytes` must outlive it. Errors: Corruption (cut off, foreign, damaged),
  /// NotSupported (a newer version), ResourceExhausted (memory). A file whose index cannot be
  /// opened must be read as a whole.
  static Result<SkipIndexReader> Open(ByteView bytes);

  /// @{
  /// What was moved from may only be destroyed or assigned to.
  SkipIndexReader(SkipIndexReader&&) noexcept;
  SkipIndexReader& operator=(SkipIndexReader&&) noexcept;
  ~SkipIndexReader();
  /// @}

  /// 0 for a file without rows.
  size_t num_granules() const noexcept;

  /// By granule: whether it may hold a row that matches. Never false for one that does.
  std::vector<bool> Candidates(const Predicate& predicate) const;

 private:
  explicit SkipIndexReader(std::unique_ptr<const SkipIndex> index) noexcept;

  std::unique_ptr<const SkipIndex> index_;
};

/// One column definition, over the files of a database or column family.
struct SkipIndexColumnUsage {
  std::string definition;               ///< Column::ToText
  uint64_t num_files = 0;               ///< Files whose index has the column.
  uint64_t filter_bytes = 0;            ///< Filters in them, without the size of keys.
  uint64_t bounds_bytes = 0;            ///< Least and greatest values.
  uint64_t num_distinct = 0;            ///< Values distinct within their granule.
  uint64_t files_without_filters = 0;   ///< Of num_files: over budget, or of no use.
  uint64_t files_with_bounds_only = 0;  ///< Of these: filters were not wanted, or bounds suffice.
  uint64_t files_over_budget = 0;       ///< Of num_files: filters or bounds left out for size.
};

/// The skip indexes of a database or column family.
struct SkipIndexSummary {
  /// The columns that can be scanned by. If several definitions have the same name, the one that
  /// the newest file has.
  std::vector<Column> columns;

  /// All definitions that occur, in text form, sorted; superseded ones too.
  std::vector<SkipIndexColumnUsage> usage;

  uint64_t num_files = 0;         ///< All of them.
  uint64_t files_with_index = 0;  ///< Of these, with a usable one.
  uint64_t index_bytes = 0;       ///< Of all usable indexes.

  /// The largest max_index_bytes that a file needs of those whose index, or a part of it, was left
  /// out for its size; 0: none was, or it is not known.
  uint64_t needed_index_bytes = 0;

  /// "000012.sst: reason" of the files without a usable index, at most 100.
  std::vector<std::string> problems;
};

}  // namespace blocksieve
