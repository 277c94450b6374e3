#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"
#include "blocksieve/value.h"

namespace blocksieve {

/// The default number of rows per granule, for engines that do not close granules with their data
/// blocks, which is better: a granule that lies across two blocks costs both. With rows of some
/// hundred bytes it is one or two data blocks. Twice as many rows read half as many blocks more;
/// half as many double the bytes of the granules' keys, which with file paths are a quarter of the
/// filters'.
inline constexpr uint64_t kDefaultGranuleRows = 64;

/// The default limit on key and value bytes per granule, for large rows.
inline constexpr uint64_t kDefaultGranuleBytes = 16 << 10;

/// What a skip index holds for one column.
struct GranuleColumnOptions {
  /// Any bytes, such as the column's definition. The index carries them without interpreting them.
  std::string name;

  /// Type of all values.
  ValueType type = ValueType::kBytes;

  /// Share of the granules without a value for which a filter may answer "may have it". The range
  /// is that of ChooseLayout.
  double target_fpr = 0.01;

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
  uint64_t max_index_bytes = 0;

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
