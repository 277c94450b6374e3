#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/column_index.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/kernels.h"
#include "blocksieve/status.h"
#include "blocksieve/value.h"

/// \file
/// The skip index of one file. It divides the rows, in key order, into granules. For each granule
/// it knows the range of keys and, for each indexed column, which values the rows may hold.
/// lib/FORMAT.md specifies the byte format; granule_index_builder.h makes the index.

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
  uint64_t probe_bytes = 0;       ///< What one KeepContaining reads at most.
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
  static Result<GranuleIndex> Open(ByteView bytes) { return Open(bytes, ActiveKernel()); }

  /// The same with one kernel. REQUIRES: internal::IsAvailable(kernel)
  static Result<GranuleIndex> Open(ByteView bytes, Kernel kernel);

  uint64_t num_granules() const noexcept;  ///< 0 for a file without rows.
  uint64_t num_rows() const noexcept;      ///< Of all granules.

  /// Whether the granule must be read whatever the predicate. REQUIRES: granule < num_granules()
  bool AlwaysMatches(size_t granule) const noexcept;

  /// Granules that always match. O(num_granules()).
  uint64_t num_always_match() const noexcept;

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

}  // namespace blocksieve
