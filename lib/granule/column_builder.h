#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "lib/granule/bounds.h"
#include "lib/granule/distinct.h"
#include "lib/granule/filters.h"
#include "lib/granule/format.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"

namespace blocksieve::internal {

/// Makes one column's part of an index, granule by granule.
///
/// Call order: ( Add* CloseGranule )* Prepare DropFilters? DropBounds? Append
class GranuleColumnBuilder {
 public:
  GranuleColumnBuilder(const GranuleColumnOptions& options, const FilterSizer& sizer);

  ValueType type() const noexcept { return options_.type; }

  /// Adds a value of row number `row` of the file. REQUIRES: it is of the column's type
  void Add(const Value& value, uint64_t row);

  /// Ends a granule of `num_rows` rows. One that always matches needs neither filter nor bounds.
  void CloseGranule(uint64_t num_rows, bool always_match);

  /// Decides what to keep and how large it will be. REQUIRES: no granule is open
  void Prepare();

  /// Leaves a part out, for the given reason.
  void DropFilters(GranulePart reason);
  void DropBounds(GranulePart reason);

  /// Bytes of the parts; 0 before Prepare.
  uint64_t filter_bytes() const noexcept { return filter_bytes_; }
  uint64_t bounds_bytes() const noexcept { return bounds_.size(); }
  uint64_t mark_bytes() const noexcept { return marks_.size(); }

  /// The column's header; without lengths and checksum.
  ColumnHeader MakeHeader() const;

  /// Appends the column's part and completes its header.
  void Append(std::string* out, ColumnHeader* header) const;

  uint64_t MemoryBytes() const noexcept;

 private:
  /// Takes postings instead of bit slices if they are smaller.
  void ChooseForm();

  /// Whether nearly every value is in nearly every granule.
  bool IsEverywhere() const;

  /// Whether bounds do nearly as well as filters, and may do so alone.
  bool BoundsSuffice() const;

  GranuleColumnOptions options_;
  FilterSizer sizer_;
  GranulePart filter_state_;
  GranulePart bounds_state_;

  uint64_t latest_row_ = ~uint64_t{0};  // the last with a value
  uint64_t rows_with_value_ = 0;        // of the open granule
  DistinctHashes distinct_;
  BoundsWriter bounds_writer_;

  uint64_t num_granules_ = 0;
  std::vector<uint64_t> hashes_;  // of all granules, one after the other
  std::vector<uint64_t> counts_;  // how many of them each granule has
  uint64_t num_distinct_ = 0;
  std::vector<uint64_t> missing_;  // bits
  std::vector<uint64_t> present_;

  GranuleFilterForm form_ = GranuleFilterForm::kBitSlices;
  std::vector<SizeClass> classes_;
  std::string postings_;
  uint64_t filter_bytes_ = 0;
  std::string marks_;
  std::string bounds_;
};

}  // namespace blocksieve::internal
