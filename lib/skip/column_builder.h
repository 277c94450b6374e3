#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "lib/postings/posting.h"
#include "lib/skip/bounds.h"
#include "lib/skip/format.h"

namespace blocksieve::internal {

/// Builds one column of an index, granule by granule. Functions throw std::bad_alloc.
///
/// Call order: ( Add* CloseGranule )* Finish DropFilters? DropBounds? Append. The parts can also be
/// dropped at any time before.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Column& column);

  ValueType type() const noexcept { return header_.type; }

  /// Whether values matter: if both parts were dropped, only their presence does.
  bool wants_values() const noexcept { return has_filters() || has_bounds(); }

  /// Adds a value of row `row` of the file. Returns whether memory_bytes() may have grown.
  /// REQUIRES: it is of the column's type
  bool Add(const Value& value, uint64_t row);

  /// Ends a granule of `num_rows` rows. One that always matches gets neither filter nor bounds.
  void CloseGranule(uint64_t num_rows, bool always_match);

  /// Chooses the parts and encodes them. REQUIRES: no granule is open
  void Finish(double target_fpr);

  /// @{
  /// Drops a part for the given reason.
  void DropFilters(PartState reason);
  void DropBounds(PartState reason);
  /// @}

  /// The column's header; lengths are 0 before Finish. The checksum is set by Append.
  const ColumnHeader& header() const noexcept { return header_; }

  /// Appends the column's part, and sets its checksum.
  void Append(std::string* out);

  /// Memory in use, without that of Finish.
  uint64_t memory_bytes() const noexcept;

  /// What growing, or Finish, takes in addition: a posting and maps of each hash, or the bounds
  /// twice, where they are compressed.
  uint64_t more_bytes() const noexcept {
    constexpr uint64_t kFinishBytesPerHash = 28;
    return std::max(kFinishBytesPerHash * num_hashes(), 2 * bounds_writer_.memory_bytes());
  }

  /// Hashes in memory.
  uint64_t num_hashes() const noexcept { return log_.num_hashes() + open_.size(); }

 private:
  bool has_filters() const noexcept { return header_.filters == PartState::kPresent; }
  bool has_bounds() const noexcept { return header_.bounds == PartState::kPresent; }

  bool AddHash(uint64_t hash);
  void MakeOpenDistinct();
  void ForgetRecent() noexcept;
  void FinishFilters(double target_fpr);

  /// Whether bounds are nearly as selective as filters, and filters may be omitted.
  bool BoundsSuffice() const;

  ColumnHeader header_;
  bool may_omit_filters_;

  // The open granule.
  uint64_t latest_row_ = ~uint64_t{0};  // the last row with a value
  uint64_t rows_with_value_ = 0;
  std::vector<uint64_t> open_;          // hashes, some of them twice
  size_t make_distinct_at_ = 0;         // size of open_ at which to look for these
  std::array<uint64_t, 256> recent_{};  // by low bits: most values that repeat are here
  BoundsWriter bounds_writer_;

  uint64_t num_granules_ = 0;
  PostingLog log_;
  std::vector<uint64_t> missing_;  // bits
  std::vector<uint64_t> present_;

  std::string marks_;
  std::string filters_;
  std::string bounds_;
};

}  // namespace blocksieve::internal
