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
/// The skip index of one file. It divides the rows, in key order, into granules. For each granule
/// it knows the range of keys and, for each indexed column, which values the rows may hold.
/// lib/FORMAT.md specifies the byte format.

namespace blocksieve {

/// Whether the index has a part and, if not, why.
enum class GranulePart : uint8_t {
  kPresent = 0,     ///< It has the part.
  kNotWanted = 1,   ///< The column's options exclude the part.
  kEverywhere = 2,  ///< Nearly every value is in nearly every granule: the part would skip nothing.
  kOverBudget = 3,  ///< The part, or the whole index, would exceed its limit of bytes.
};

/// "present", "not wanted", "every value in every granule" or "over budget".
std::string_view GranulePartName(GranulePart part) noexcept;

/// How filters are stored.
enum class GranuleFilterForm : uint8_t {
  kBitSlices = 0,  ///< A Bloom filter of each granule, transposed.
  kPostings = 1,   ///< The granules of each value: exact for values that occur.
  /// The same of a nearly unique column, whose values have one group of granules on end each: for a
  /// value that occurs, too, granules are given in vain, as many as the target FPR allows.
  kGroupedPostings = 2,
};

/// Facts about one column of an index.
struct GranuleColumnInfo {
  std::string name;                    ///< As given to the builder.
  ValueType type = ValueType::kBytes;  ///< Of its values.
  double target_fpr = 0;               ///< Of the filters, per granule without the value.
  GranulePart filters = GranulePart::kNotWanted;           ///< What answers equality.
  GranuleFilterForm form = GranuleFilterForm::kBitSlices;  ///< Of the filters.
  GranulePart bounds = GranulePart::kNotWanted;            ///< What answers ranges.
  /// Values distinct within their granule, summed over all granules. If the filters are
  /// kOverBudget, as many as had been counted by then.
  uint64_t num_distinct = 0;
  uint64_t max_distinct = 0;      ///< The most in one granule; 0 without bit slices.
  uint32_t num_probes = 0;        ///< Bits that a value sets (k) in bit slices.
  uint32_t num_size_classes = 0;  ///< Sizes of bit slices, each transposed by itself.
  uint64_t filter_bytes = 0;      ///< In the index: filters, and their size classes.
  uint64_t bounds_bytes = 0;      ///< Least and greatest values.
  uint64_t mark_bytes = 0;        ///< Which granules have rows that have, or lack, the column.
  uint64_t probe_bytes = 0;       ///< What one PruneByHash reads at most.
};

/// Of the filters: "bit slices", "postings", "grouped postings", or why there are none, as
/// GranulePartName says it.
std::string_view GranuleFiltersName(const GranuleColumnInfo& column) noexcept;

/// Why a column has filters of such a name: "nearly every row has a value of its own". Empty for
/// names that are reasons themselves.
std::string_view GranuleFiltersReason(std::string_view filters) noexcept;

namespace internal {
struct GranuleIndexParts;
}

/// Reads a skip index. Thread-safe, because nothing changes after Open.
class GranuleIndex {
 public:
  /// @{
  /// A moved-from index may only be destroyed or assigned to.
  GranuleIndex(GranuleIndex&&) noexcept;
  GranuleIndex& operator=(GranuleIndex&&) noexcept;
  /// @}
  ~GranuleIndex();

  /// Opens an index. `bytes` must outlive it: filters are read in place, and only compressed parts
  /// (keys, bounds) are copied.
  ///
  /// Checks every byte, because a flipped bit of a filter would hide rows, and an index is opened
  /// once for many probes. That takes about 0.1 ms per MB of filters. Whatever the bytes, no
  /// function here reads outside of them.
  ///
  /// Errors: Corruption (cut off, foreign, damaged), NotSupported (a newer version),
  /// ResourceExhausted (memory). A file whose index cannot be opened must be read as a whole.
  /// REQUIRES: internal::IsAvailable(kernel)
  static Result<GranuleIndex> Open(ByteView bytes, Kernel kernel = ActiveKernel());

  uint64_t num_granules() const noexcept;  ///< 0 for a file without rows.
  uint64_t num_rows() const noexcept;      ///< Of all granules.

  /// Whether the granule must be read whatever the predicate. REQUIRES: granule < num_granules()
  bool AlwaysMatches(size_t granule) const noexcept;

  /// Rows of one granule. REQUIRES: granule < num_granules()
  uint64_t NumRows(size_t granule) const noexcept;

  /// The least number that the engine noted for a granule's rows; 0 if none.
  /// REQUIRES: granule < num_granules()
  uint64_t MinSequence(size_t granule) const noexcept;

  /// First and last key of a granule; either may be null. Decodes up to 16 granules before it.
  /// REQUIRES: granule < num_granules()
  void GetKeyRange(size_t granule, std::string* first, std::string* last) const;

  /// Columns are counted from 0, in the order of the builder's options.
  size_t num_columns() const noexcept;

  /// Facts about one column. REQUIRES: column < num_columns()
  const GranuleColumnInfo& column(size_t column) const noexcept;

  /// What predicates ask. Valid as long as this index, even if that is moved. Never removes
  /// granules that always match. REQUIRES: column < num_columns()
  const ColumnIndex& column_index(size_t column) const noexcept;

  uint64_t index_bytes() const noexcept;   ///< Of the whole index.
  uint64_t key_bytes() const noexcept;     ///< Of the part with keys, rows and marks of granules.
  uint64_t memory_bytes() const noexcept;  ///< Held in addition to the index itself.

 private:
  explicit GranuleIndex(std::unique_ptr<internal::GranuleIndexParts> parts) noexcept;

  std::unique_ptr<internal::GranuleIndexParts> parts_;
};

/// What a skip index holds for one column.
struct GranuleColumnOptions {
  /// Any bytes, such as the column's definition. The index carries them without interpreting them.
  std::string name;

  /// Type of all values.
  ValueType type = ValueType::kBytes;

  /// Share of the granules without a value for which a filter may answer "may have it". The range
  /// is that of ChooseLayout. Low: each costs a read, and most granules lack most values.
  double target_fpr = 0.001;

  bool with_filters = true;   ///< Filters, for equality.
  bool with_postings = true;  ///< Filters may be postings where these are smaller than bit slices.
  bool with_bounds = true;    ///< Least and greatest values, for ranges.

  /// Leave the filters of numbers out where bounds do nearly as well: where a value is within the
  /// bounds of three granules at most, on average, as in a nearly unique column that ascends with
  /// the keys. Their state is then GranulePart::kNotWanted. Files of few granules keep them.
  bool may_omit_filters = false;

  /// If its filters would take more bytes, the column gets none. 0: no limit.
  uint64_t max_filter_bytes = 0;
};

/// What a GranuleIndexBuilder builds.
struct GranuleIndexOptions {
  /// A granule closes when it has this many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// A granule also closes when its rows reach this many bytes. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Limit on the bytes of the whole index. To meet it, the builder leaves out filters, the largest
  /// first, and then bounds. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;

  /// The indexed columns. AddValue counts them from 0.
  std::vector<GranuleColumnOptions> columns;
};

namespace internal {
struct GranuleIndexBuilderParts;
}

/// Makes the skip index of one file while the file is written. Holds 8 bytes for each distinct
/// value of each granule of a filtered column, and nothing per row. Finish takes 32 more for each,
/// one column at a time. Not thread-safe, but may move between threads.
///
/// Call order: ( StartRow ( AddValue | MarkAlwaysMatch | NoteSequence )* CloseGranule? )* Finish
///
/// Finish reports all problems (no memory, a value of the wrong type), which gives an engine's
/// write path one place to handle them. There is then no index.
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

  /// Begins the next row, in the engine's order of keys, whatever that is. `row_bytes` counts
  /// towards granule_bytes.
  void StartRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// Adds a value of the row. A row may have several in a column (arrays, words); with none it
  /// lacks the column. An unknown column or a value of another type makes Finish fail. REQUIRES:
  /// StartRow
  void AddValue(size_t column, const Value& value) noexcept;

  /// Says that the row may not be what it seems (a merge operand, a reference), so that its granule
  /// must always be read. REQUIRES: StartRow
  void MarkAlwaysMatch() noexcept;

  /// The granule keeps the least of these numbers. REQUIRES: StartRow
  void NoteSequence(uint64_t sequence) noexcept;

  /// From now on, these limits take the place of granule_rows and granule_bytes. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept;

  /// Ends the granule after the current row. Has no effect if the granule is empty.
  void CloseGranule() noexcept;

  /// Approximate bytes of memory held. O(columns).
  uint64_t MemoryBytes() const noexcept;

  /// Returns the finished index, which may have no rows. Must be called only once.
  /// Errors: InvalidArgument (see AddValue), ResourceExhausted (no memory, or the keys alone
  /// exceed max_index_bytes).
  Result<std::string> Finish() noexcept;

  /// After Finish: a max_index_bytes with which nothing would have been left out, whatever it was;
  /// at most 32 bytes per column more than the least. 0 if Finish failed before it knew.
  uint64_t needed_bytes() const noexcept;

 private:
  explicit GranuleIndexBuilder(std::unique_ptr<internal::GranuleIndexBuilderParts> parts) noexcept;

  std::unique_ptr<internal::GranuleIndexBuilderParts> parts_;
};

}  // namespace blocksieve
