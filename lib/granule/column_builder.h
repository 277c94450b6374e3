#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "lib/granule/bounds.h"
#include "lib/granule/filters.h"
#include "lib/granule/format.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"

namespace blocksieve::internal {

/// The set of hashes in the current granule. Clear takes constant time, so a granule of many values
/// does not slow down the following ones.
class DistinctHashes {
 public:
  /// Returns whether the hash is new.
  bool Insert(uint64_t hash) {
    if (hash == latest_ && size_ != 0) return false;  // clustered columns repeat their values
    latest_ = hash;
    if (2 * (size_ + 1) > slots_.size()) Grow();
    if (!Place(hash)) return false;
    ++size_;
    return true;
  }

  void Clear() noexcept {
    size_ = 0;
    ++epoch_;
  }

  uint64_t size() const noexcept { return size_; }
  uint64_t memory_bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint64_t epoch = 0;  // in use if equal to epoch_
  };

  bool Place(uint64_t hash) noexcept {
    const size_t mask = slots_.size() - 1;
    for (size_t i = static_cast<size_t>(hash) & mask;; i = (i + 1) & mask) {
      Slot& slot = slots_[i];
      if (slot.epoch != epoch_) {
        slot = {hash, epoch_};
        return true;
      }
      if (slot.hash == hash) return false;
    }
  }

  void Grow() {
    constexpr size_t kFirstSlots = 256;
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.epoch == epoch_) Place(slot.hash);
    }
  }

  std::vector<Slot> slots_;  // size: a power of two
  uint64_t size_ = 0;
  uint64_t epoch_ = 1;
  uint64_t latest_ = 0;
};

/// Builds one column of an index, granule by granule.
///
/// Call order: ( Add* CloseGranule )* Prepare DropFilters? DropBounds? Append
class GranuleColumnBuilder {
 public:
  GranuleColumnBuilder(const GranuleColumnOptions& options, const FilterSizer& sizer);

  ValueType type() const noexcept { return options_.type; }

  /// Adds a value of row `row` of the file. REQUIRES: it is of the column's type
  void Add(const Value& value, uint64_t row);

  /// Ends a granule of `num_rows` rows. One that always matches gets neither filter nor bounds.
  void CloseGranule(uint64_t num_rows, bool always_match);

  /// Chooses the parts and their form, and computes their sizes. REQUIRES: no granule is open
  void Prepare();

  /// Drops a part for the given reason.
  void DropFilters(PartState reason);
  void DropBounds(PartState reason);

  /// Sizes of the parts; 0 before Prepare.
  uint64_t filter_bytes() const noexcept { return filter_bytes_; }
  uint64_t bounds_bytes() const noexcept { return bounds_.size(); }
  uint64_t mark_bytes() const noexcept { return marks_.size(); }

  /// The column's header, without lengths and checksum.
  ColumnHeader MakeHeader() const;

  /// Appends the column's parts and completes its header.
  void Append(std::string* out, ColumnHeader* header) const;

  uint64_t MemoryBytes() const noexcept;

 private:
  /// Switches from bit slices to postings if these are smaller.
  void ChooseForm();

  /// Whether nearly every value is in nearly every granule.
  bool IsInEveryGranule() const;

  /// Whether bounds are nearly as selective as filters, and filters may be omitted.
  bool BoundsSuffice() const;

  GranuleColumnOptions options_;
  FilterSizer sizer_;
  PartState filter_state_;
  PartState bounds_state_;

  uint64_t latest_row_ = ~uint64_t{0};  // the last row with a value
  uint64_t rows_with_value_ = 0;        // in the current granule
  DistinctHashes distinct_;
  BoundsWriter bounds_writer_;

  uint64_t num_granules_ = 0;
  std::vector<uint64_t> hashes_;  // of all granules, concatenated
  std::vector<uint64_t> counts_;  // number of hashes of each granule
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
