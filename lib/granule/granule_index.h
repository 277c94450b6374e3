#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"
#include "lib/base/kernels.h"
#include "lib/predicate/column_index.h"

/// \file
/// The skip index of one file. Rows, in key order, are divided into granules. Each granule has its
/// key range and, for each indexed column, a description of the values in its rows. lib/FORMAT.md
/// specifies the byte format.

namespace blocksieve {

/// State of a part of a column's index: its filters or its bounds.
enum class PartState : uint8_t {
  kPresent = 0,     ///< In the index.
  kNotWanted = 1,   ///< Excluded by the column's options.
  kEverywhere = 2,  ///< Nearly every value is in nearly every granule: would prune nothing.
  kOverBudget = 3,  ///< The part or the whole index would exceed its limit in bytes.
};

/// "present", "not wanted", "every value in every granule" or "over budget".
std::string_view PartStateName(PartState part) noexcept;

/// How filters are stored.
enum class GranuleFilterForm : uint8_t {
  kBitSlices = 0,  ///< A Bloom filter of each granule, transposed.
  kPostings = 1,   ///< The granules of each value: exact for values that occur.
  /// Postings of a nearly unique column: each value maps to one contiguous group of granules, whose
  /// other granules are false positives, as many as the target FPR allows.
  kGroupedPostings = 2,
};

/// Facts about one column of an index.
struct GranuleColumnInfo {
  std::string name;                    ///< As given to the builder.
  ValueType type = ValueType::kBytes;  ///< Type of the values.
  double target_fpr = 0;               ///< FPR of the filters, per granule without the value.
  PartState filters = PartState::kNotWanted;               ///< For equality.
  GranuleFilterForm form = GranuleFilterForm::kBitSlices;  ///< Form of the filters.
  PartState bounds = PartState::kNotWanted;                ///< For ranges.
  /// Distinct values of each granule, summed over all granules. If the filters are kOverBudget, the
  /// number when they were dropped.
  uint64_t num_distinct = 0;
  uint64_t max_distinct = 0;      ///< Maximum in one granule; 0 without bit slices.
  uint32_t num_probes = 0;        ///< Bits that a value sets (k) in bit slices.
  uint32_t num_size_classes = 0;  ///< Sizes of bit slices, each transposed separately.
  uint64_t filter_bytes = 0;      ///< Filters in the index, including size classes.
  uint64_t bounds_bytes = 0;      ///< Minima and maxima.
  uint64_t mark_bytes = 0;        ///< Marks of granules whose rows have, or lack, the column.
  uint64_t probe_bytes = 0;       ///< Maximum that one PruneByHash reads.
};

/// Form of the filters: "bit slices", "postings", "grouped postings", or their PartStateName if
/// they are not present.
std::string_view GranuleFiltersName(const GranuleColumnInfo& column) noexcept;

/// Why a column has filters of this name: "nearly every row has a value of its own". Empty for
/// names that are reasons themselves.
std::string_view GranuleFiltersReason(std::string_view filters) noexcept;

namespace internal {
struct GranuleIndexParts;
}

/// Reads a skip index. Immutable and thread-safe.
class GranuleIndex {
 public:
  /// @{
  /// A moved-from index may only be destroyed or assigned to.
  GranuleIndex(GranuleIndex&&) noexcept;
  GranuleIndex& operator=(GranuleIndex&&) noexcept;
  /// @}
  ~GranuleIndex();

  /// Opens an index. `bytes` must outlive it: filters are read in place, and only compressed parts
  /// (keys, bounds) are copied. Checks every byte, about 0.1 ms per MB of filters: a flipped bit
  /// would hide rows, and an index is opened once for many probes. No function reads outside of
  /// `bytes`, whatever they contain.
  ///
  /// Errors: Corruption (truncated, foreign, damaged), NotSupported (newer version),
  /// ResourceExhausted (memory). A file whose index cannot be opened must be read as a whole.
  /// REQUIRES: internal::IsAvailable(kernel)
  static Result<GranuleIndex> Open(ByteView bytes, Kernel kernel = ActiveKernel());

  uint64_t num_granules() const noexcept;  ///< 0 for a file without rows.
  uint64_t num_rows() const noexcept;      ///< Total over all granules.

  /// Whether the granule may match every predicate. REQUIRES: granule < num_granules()
  bool AlwaysMatches(size_t granule) const noexcept;

  /// Rows of one granule. REQUIRES: granule < num_granules()
  uint64_t NumRows(size_t granule) const noexcept;

  /// The smallest sequence number of a granule's rows; 0 if there is none. REQUIRES: granule <
  /// num_granules()
  uint64_t MinSequence(size_t granule) const noexcept;

  /// First and last key of a granule; either may be null. Decodes up to 16 granules before it.
  /// REQUIRES: granule < num_granules()
  void GetKeyRange(size_t granule, std::string* first, std::string* last) const;

  /// Columns have numbers from 0, in the order of the builder's options.
  size_t num_columns() const noexcept;

  /// Facts about one column. REQUIRES: column < num_columns()
  const GranuleColumnInfo& column(size_t column) const noexcept;

  /// Index of one column. Valid as long as this index, even if moved. Never prunes granules that
  /// always match. REQUIRES: column < num_columns()
  const ColumnIndex& column_index(size_t column) const noexcept;

  uint64_t index_bytes() const noexcept;   ///< Size of the whole index.
  uint64_t key_bytes() const noexcept;     ///< Size of keys, row counts and marks of granules.
  uint64_t memory_bytes() const noexcept;  ///< Memory in addition to the index itself.

 private:
  explicit GranuleIndex(std::unique_ptr<internal::GranuleIndexParts> parts) noexcept;

  std::unique_ptr<internal::GranuleIndexParts> parts_;
};

/// Options of one column of a skip index.
struct GranuleColumnOptions {
  /// Any bytes, such as the column's definition; stored without interpretation.
  std::string name;

  /// Type of all values.
  ValueType type = ValueType::kBytes;

  /// FPR of the filters: of the granules that lack a value, the share that may match it, from
  /// kMinTargetFpr to kMaxTargetFpr. Low by default: each false positive costs a read, and most
  /// granules lack most values.
  double target_fpr = 0.001;

  bool with_filters = true;   ///< Filters, for equality.
  bool with_postings = true;  ///< Store filters as postings if these are smaller than bit slices.
  bool with_bounds = true;    ///< Minimum and maximum, for ranges.

  /// Omit filters of numbers if bounds are nearly as selective: if a value is within the bounds of
  /// at most three granules on average, as in a nearly unique column that ascends with the keys.
  /// Their state is then PartState::kNotWanted. Files with few granules keep filters.
  bool may_omit_filters = false;

  /// Larger filters are dropped. 0: no limit.
  uint64_t max_filter_bytes = 0;
};

/// Options of a GranuleIndexBuilder.
struct GranuleIndexOptions {
  /// A granule closes when it has this many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// A granule also closes when its rows reach this many bytes. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Budget for the whole index, in bytes. To meet it, the builder drops filters, the largest
  /// first, and then bounds. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;

  /// Indexed columns. AddValue counts them from 0.
  std::vector<GranuleColumnOptions> columns;
};

namespace internal {
struct GranuleIndexBuilderParts;
}

/// Builds the skip index of one file while the file is written. Memory: 8 bytes per distinct value,
/// granule and column with filters, nothing per row; Finish takes 32 more each, one column at a
/// time. Not thread-safe, but may move between threads.
///
/// Call order: ( StartRow ( AddValue | MarkAlwaysMatch | NoteSequence )* CloseGranule? )* Finish
///
/// Finish returns all errors (out of memory, a value of the wrong type), so that an engine's write
/// path handles them in one place. The file then has no index.
class GranuleIndexBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<GranuleIndexBuilder> Create(const GranuleIndexOptions& options);

  /// @{
  /// A moved-from builder may only be destroyed or assigned to.
  GranuleIndexBuilder(GranuleIndexBuilder&&) noexcept;
  GranuleIndexBuilder& operator=(GranuleIndexBuilder&&) noexcept;
  /// @}
  ~GranuleIndexBuilder();

  /// Begins the next row. Keys are in the engine's order, whatever it is. `row_bytes` count towards
  /// granule_bytes.
  void StartRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// Adds a value of the row. A row may have several in a column (arrays, words); with none it
  /// lacks the column. An unknown column or a value of another type makes Finish fail. REQUIRES:
  /// StartRow
  void AddValue(size_t column, const Value& value) noexcept;

  /// The row's value is not known yet (a merge operand, a reference): its granule may match every
  /// predicate. REQUIRES: StartRow
  void MarkAlwaysMatch() noexcept;

  /// Records the row's sequence number; the index stores each granule's smallest. REQUIRES:
  /// StartRow
  void NoteSequence(uint64_t sequence) noexcept;

  /// Replaces granule_rows and granule_bytes from now on. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept;

  /// Ends the granule after the current row. Does nothing if the granule is empty.
  void CloseGranule() noexcept;

  /// Approximate memory use, in bytes. O(columns).
  uint64_t MemoryBytes() const noexcept;

  /// Returns the index, even without rows. Errors: InvalidArgument (see AddValue),
  /// ResourceExhausted (memory, or the keys alone exceed max_index_bytes).
  /// REQUIRES: Finish() has not been called
  Result<std::string> Finish() noexcept;

  /// After Finish: a max_index_bytes that drops nothing, whatever the budget was; at most 32 bytes
  /// per column above the minimum. 0 if Finish failed before it was known.
  uint64_t needed_bytes() const noexcept;

 private:
  explicit GranuleIndexBuilder(std::unique_ptr<internal::GranuleIndexBuilderParts> parts) noexcept;

  std::unique_ptr<internal::GranuleIndexBuilderParts> parts_;
};

}  // namespace blocksieve
