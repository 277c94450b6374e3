#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"
#include "blocksieve/value.h"

namespace blocksieve {

/// Rows of a granule unless an option says otherwise. Chosen by measurement (bench/run skip): of
/// rows of some hundred bytes that is one or two data blocks, so that a scan reads close to the
/// blocks that hold a match. Twice as many rows read half as many blocks more. Half as many read
/// less still, but the keys of granules, with file paths a quarter of the filters, would double.
inline constexpr uint64_t kDefaultGranuleRows = 64;

/// Key and value bytes of a granule unless an option says otherwise, for rows that are large.
inline constexpr uint64_t kDefaultGranuleBytes = 16 << 10;

/// What a granule index holds of one column.
struct GranuleColumnOptions {
  /// Any bytes, e.g. the column's definition: the index carries it, and does not look at it.
  std::string name;

  /// Of all its values.
  ValueType type = ValueType::kBytes;

  /// Share of the granules without a value that may be reported as "may have it". Range of
  /// ChooseLayout.
  double target_fpr = 0.01;

  bool with_filters = true;  ///< For equality.
  bool with_bounds = true;   ///< Least and greatest value, for ranges.

  /// Bytes of filters above which the column gets none. 0: no limit.
  uint64_t max_filter_bytes = 0;
};

/// What a GranuleIndexBuilder is to build.
struct GranuleIndexOptions {
  /// A granule closes when it has so many rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;

  /// And when its rows' bytes reach so many. 0: no limit.
  uint64_t granule_bytes = kDefaultGranuleBytes;

  /// Bytes of the whole index. If it would have more, filters are left out, the largest first, then
  /// bounds. 0: no limit.
  uint64_t max_index_bytes = 0;

  /// The indexed columns; AddValue counts them from 0.
  std::vector<GranuleColumnOptions> columns;
};

namespace internal {
struct GranuleIndexBuilderParts;
}

/// Makes the index of one file while the file is written. Memory: 8 bytes per distinct value and
/// granule and filtered column; per row nothing. Not thread-safe, but may move between threads.
///
/// Call order: ( StartRow ( AddValue | MarkAlwaysMatch | NoteSequence )* CloseGranule? )* Finish
///
/// Problems on the way (memory short, a value of the wrong type) come out in Finish, so that an
/// engine's write path has one place to handle them: there is then no index.
class GranuleIndexBuilder {
 public:
  /// Errors: InvalidArgument, naming the option, its value and the allowed range.
  static Result<GranuleIndexBuilder> Create(const GranuleIndexOptions& options);

  /// @{
  /// What was moved from may only be destroyed or assigned to.
  GranuleIndexBuilder(GranuleIndexBuilder&&) noexcept;
  GranuleIndexBuilder& operator=(GranuleIndexBuilder&&) noexcept;
  /// @}
  ~GranuleIndexBuilder();

  /// The next row, in the engine's own order of keys, which may be any. `row_bytes` counts towards
  /// granule_bytes.
  void StartRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// A value of the row. A row may have several in a column (arrays, words), or none: then it lacks
  /// the column. REQUIRES: after StartRow, column < options.columns.size(), the column's type
  void AddValue(size_t column, const Value& value) noexcept;

  /// The row is not what it seems (a merge operand, a reference): its granule is to be read always.
  void MarkAlwaysMatch() noexcept;

  /// The granule keeps the least of these numbers.
  void NoteSequence(uint64_t sequence) noexcept;

  /// Ends the granule after the current row; without effect if it is empty.
  void CloseGranule() noexcept;

  /// Bytes of memory held, roughly. O(columns).
  uint64_t MemoryBytes() const noexcept;

  /// The finished index; also of no rows. To be called once.
  /// Errors: InvalidArgument (see AddValue), ResourceExhausted (memory, or max_index_bytes is less
  /// than even the keys take).
  Result<std::string> Finish() noexcept;

 private:
  explicit GranuleIndexBuilder(std::unique_ptr<internal::GranuleIndexBuilderParts> parts) noexcept;

  std::unique_ptr<internal::GranuleIndexBuilderParts> parts_;
};

}  // namespace blocksieve
