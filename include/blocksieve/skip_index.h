#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "blocksieve/skip_index_explanation.h"
#include "blocksieve/status.h"

/// \file
/// A skip index of one file, from rows to candidates: the builder takes each row as the file is
/// written, the reader says which granules of the file may hold a row that matches a predicate.
/// Both name columns by their definitions in a GranuleIndex, which is what stores the index.

namespace blocksieve {

namespace internal {
class ColumnSet;
}

/// What a SkipIndexBuilder is to build.
struct SkipIndexBuilderOptions {
  /// The indexed columns: 1 to 256, of distinct names.
  std::vector<Column> columns;

  /// A granule closes when it has so many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// And when its rows take so many bytes. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Share of the granules without a value that are read all the same; 1e-7 to 0.5.
  double target_fpr = 0.001;

  /// Bytes of the whole index. What exceeds it is left out, the largest filters first. 0: no limit.
  uint64_t max_index_bytes = 0;
};

/// Makes the skip index of one file while the file is written. Memory: 8 bytes per distinct value,
/// granule and column. Not thread-safe, but may move between threads.
///
/// Call order: ( (AddRow | AddEmptyRow | AddAlwaysMatchingRow) NoteSequence? CloseGranule? )*
/// Finish
///
/// Problems on the way (memory is short, a callback throws) come out in Finish, so that an engine's
/// write path has one place to handle them: the file then has no index and is read as a whole.
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
  /// Errors: InvalidArgument (a column threw), ResourceExhausted (memory, or max_index_bytes is
  /// less than even the keys take).
  Result<std::string> Finish() noexcept;

  /// See GranuleIndexBuilder::needed_bytes.
  uint64_t needed_bytes() const noexcept { return granules_.needed_bytes(); }

 private:
  SkipIndexBuilder(std::unique_ptr<internal::ColumnSet> columns, GranuleIndexBuilder granules);

  std::unique_ptr<internal::ColumnSet> columns_;
  GranuleIndexBuilder granules_;
  Status status_;  // of extracting values
};

/// The keys of adjacent granules.
struct SkipIndexKeyRange {
  std::string first;  ///< The first key.
  std::string last;   ///< The last key, which is part of the range.
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

  /// The keys of `granules`, in the order of the file, adjacent granules as one range.
  /// REQUIRES: granules.num_granules() == num_granules()
  std::vector<SkipIndexKeyRange> KeyRanges(const GranuleSet& granules) const;

  /// What the predicate does with this index: of a scan of this one file, all that is known before
  /// it reads rows. Asks the index once for the predicate and once for each comparison.
  ScanExplanation Explain(const Predicate& predicate) const;

  /// All else that the index knows; columns are named by their definitions.
  const GranuleIndex& granules() const noexcept { return granules_; }

 private:
  explicit SkipIndexReader(GranuleIndex granules) noexcept : granules_(std::move(granules)) {}

  const ColumnIndex* Find(const Column& column) const;

  GranuleIndex granules_;
};

}  // namespace blocksieve
