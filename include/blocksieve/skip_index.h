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
#include "blocksieve/column_index.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"

/// \file
/// A skip index of one file, from rows to candidates: the builder takes each row as the file is
/// written, the reader says which granules of the file may hold a row that matches a predicate.
/// Both name columns by their definitions in a GranuleIndex, which is what stores the index.

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

namespace internal {
class ColumnSet;
}

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
class SkipIndexBuilder {
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
  void AddEmptyRow(std::string_view key) noexcept { granules_.StartRow(key, key.size()); }

  /// A row whose value is not known when it is written (a merge operand, a reference): its granule
  /// is a candidate for every predicate.
  void AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept {
    granules_.StartRow(key, row_bytes);
    granules_.MarkAlwaysMatch();
  }

  /// The granule keeps the least of these numbers: see GranuleIndex::MinSequence.
  void NoteSequence(uint64_t sequence) noexcept { granules_.NoteSequence(sequence); }

  /// From now on, these limits take the place of granule_rows and granule_bytes. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept {
    granules_.LimitGranules(rows, bytes);
  }

  /// Ends the granule after the current row; without effect if it is empty.
  void CloseGranule() noexcept { granules_.CloseGranule(); }

  /// The finished index, in the format of lib/FORMAT.md; also of no rows. To be called once.
  /// Errors: ResourceExhausted (memory, or max_index_bytes is less than even the keys take).
  Result<std::string> Finish() noexcept;

  /// See GranuleIndexBuilder::needed_bytes.
  uint64_t needed_bytes() const noexcept { return granules_.needed_bytes(); }

 private:
  SkipIndexBuilder(std::unique_ptr<internal::ColumnSet> columns, GranuleIndexBuilder granules);

  std::unique_ptr<internal::ColumnSet> columns_;
  GranuleIndexBuilder granules_;
  Status status_;  // of extracting values
};

/// Reads the skip index of one file. Thread-safe, as nothing changes after Open. What was moved
/// from may only be destroyed or assigned to. Functions that return no Result may throw
/// std::bad_alloc.
class SkipIndexReader {
 public:
  /// Opens an index and checks all of it; `bytes` must outlive it. See GranuleIndex::Open for time
  /// and errors. A file whose index cannot be opened must be read as a whole.
  static Result<SkipIndexReader> Open(ByteView bytes);

  /// 0 for a file without rows.
  size_t num_granules() const noexcept { return static_cast<size_t>(granules_.num_granules()); }

  /// The column's number in granules(), if the index has one that is defined equally. A name is not
  /// enough: it may have been dropped and given to another field.
  std::optional<size_t> FindColumn(const Column& column) const;

  /// Whether some comparison of the predicate can rule granules out with the columns of this index.
  /// If not, all granules are candidates.
  bool CanSkip(const Predicate& predicate) const;

  /// The granules that may hold a row that matches. Never lacks one that does.
  GranuleSet Candidates(const Predicate& predicate) const;

  /// All else that the index knows; columns are named by their definitions.
  const GranuleIndex& granules() const noexcept { return granules_; }

 private:
  explicit SkipIndexReader(GranuleIndex granules) noexcept : granules_(std::move(granules)) {}

  const ColumnIndex* Find(const Column& column) const;

  GranuleIndex granules_;
};

/// Reads a skip index that is not in memory. Engines implement it over their storage.
class SkipIndexSource {
 public:
  virtual ~SkipIndexSource() = default;

  /// Bytes of the whole index.
  virtual uint64_t num_bytes() const = 0;

  /// Fills `to` with the bytes from `offset` on, which are within num_bytes(). Any error will do.
  virtual Status Read(uint64_t offset, std::span<uint8_t> to) = 0;
};

/// Reads the part with the granules and those of the `columns` (by their definitions) that the
/// index has, as a predicate asks few columns; nothing of the others. What it returns is an index
/// by itself, one that lacks the other columns: SkipIndexReader::Open checks and opens it.
///
/// Errors: those of the source; Corruption and NotSupported, if the header is damaged or of a newer
/// version; ResourceExhausted (memory).
Result<std::string> ReadSkipIndex(SkipIndexSource* source, std::span<const Column> columns);

/// The same with all columns, as they are stored.
Result<std::string> ReadWholeSkipIndex(SkipIndexSource* source);

/// What the header says of the columns; no more is read, nor checked. Errors: as above.
Result<std::vector<GranuleColumnInfo>> ReadSkipIndexColumns(SkipIndexSource* source);

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
