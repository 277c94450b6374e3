#include "lib/granule/column_builder.h"

#include <cassert>

#include "lib/bits/packed.h"
#include "lib/hash/checksum.h"
#include "lib/postings/plan.h"

namespace blocksieve::internal {
namespace {

// If values are in this share of the granules on average, filters prune next to nothing.
constexpr double kEverywhereShare = 0.95;

// Fewer granules are too small a sample, and their filters are small.
constexpr uint64_t kFewGranules = 16;

}  // namespace

GranuleColumnBuilder::GranuleColumnBuilder(const GranuleColumnOptions& options,
                                           const FilterSizer& sizer)
    : options_(options),
      sizer_(sizer),
      filter_state_(options.with_filters ? PartState::kPresent : PartState::kNotWanted),
      bounds_state_(options.with_bounds ? PartState::kPresent : PartState::kNotWanted),
      bounds_writer_(options.type) {}

void GranuleColumnBuilder::Add(const Value& value, uint64_t row) {
  if (latest_row_ != row) {
    latest_row_ = row;
    ++rows_with_value_;
  }
  if (filter_state_ == PartState::kPresent) {
    const uint64_t hash = value.Hash();
    if (distinct_.Insert(hash)) hashes_.push_back(hash);
  }
  // Even if the hash is not new: it may belong to another value, and ranges must not miss this one.
  if (bounds_state_ == PartState::kPresent) bounds_writer_.Add(value);
}

void GranuleColumnBuilder::CloseGranule(uint64_t num_rows, bool always_match) {
  // The marks of a granule that always matches do not matter.
  AppendBit(!always_match && rows_with_value_ < num_rows, num_granules_, &missing_);
  AppendBit(always_match || rows_with_value_ != 0, num_granules_, &present_);
  ++num_granules_;
  rows_with_value_ = 0;

  if (bounds_state_ == PartState::kPresent) bounds_writer_.CloseGranule(!always_match);
  if (filter_state_ != PartState::kPresent) return;
  if (always_match) hashes_.resize(hashes_.size() - static_cast<size_t>(distinct_.size()));
  counts_.push_back(always_match ? 0 : distinct_.size());
  num_distinct_ += counts_.back();
  distinct_.Clear();
  // Lower bound of the size: one filter for all granules is smaller than one for each, and postings
  // are hardly ever smaller by more than this factor. If it is over budget, free the memory now.
  constexpr uint64_t kMaxSavedByPostings = 8;
  const uint64_t min_bytes =
      sizer_.BitsFor(num_distinct_) / 8 / (options_.with_postings ? kMaxSavedByPostings : 1);
  if (options_.max_filter_bytes != 0 && min_bytes > options_.max_filter_bytes &&
      min_bytes - options_.max_filter_bytes > 8) {
    DropFilters(PartState::kOverBudget);
  }
}

void GranuleColumnBuilder::DropFilters(PartState reason) {
  filter_state_ = reason;
  form_ = GranuleFilterForm::kBitSlices;
  filter_bytes_ = 0;
  hashes_ = {};
  counts_ = {};
  classes_ = {};
  postings_ = {};
  distinct_ = {};
}

void GranuleColumnBuilder::DropBounds(PartState reason) {
  bounds_state_ = reason;
  bounds_ = {};
}

bool GranuleColumnBuilder::IsInEveryGranule() const {
  if (num_granules_ < kFewGranules || num_distinct_ == 0) return false;
  // The share is num_distinct / (values in the file * granules). With more values than this it is
  // too small, so counting ends after one or two granules unless all have the same values.
  const double enough =
      static_cast<double>(num_distinct_) / (kEverywhereShare * static_cast<double>(num_granules_));
  DistinctHashes values;
  for (const uint64_t hash : hashes_) {
    values.Insert(hash);
    if (static_cast<double>(values.size()) > enough) return false;
  }
  return true;
}

bool GranuleColumnBuilder::BoundsSuffice() const {
  // Each false positive of bounds costs a block read; filters cost two bytes of index per row.
  constexpr double kMaxOverlap = 3;
  return options_.may_omit_filters && bounds_state_ == PartState::kPresent &&
         num_granules_ >= kFewGranules && bounds_writer_.MeanOverlap() <= kMaxOverlap;
}

void GranuleColumnBuilder::ChooseForm() {
  if (!options_.with_postings || hashes_.empty()) return;
  const GranuleHashes values{hashes_, counts_};
  // The estimate is for scattered values. Clustered values take less.
  constexpr double kMaxSavedByClusters = 1.25;
  const double max_bytes = kMaxSavedByClusters * static_cast<double>(filter_bytes_);
  if (EstimatePostingsBytes(values, options_.target_fpr) > max_bytes) return;
  if (!AppendPostings(values, options_.target_fpr, filter_bytes_, &postings_)) return;
  form_ = GranuleFilterForm::kPostings;
  filter_bytes_ = postings_.size();
  classes_ = {};
}

void GranuleColumnBuilder::Prepare() {
  assert(rows_with_value_ == 0);
  if (filter_state_ == PartState::kPresent) {
    if (BoundsSuffice()) {
      DropFilters(PartState::kNotWanted);
    } else if (IsInEveryGranule()) {
      DropFilters(PartState::kEverywhere);
    } else {
      classes_ = ChooseSizeClasses(counts_, sizer_);
      filter_bytes_ = FilterBytes(classes_);
      ChooseForm();
    }
    if (options_.max_filter_bytes != 0 && filter_bytes_ > options_.max_filter_bytes) {
      DropFilters(PartState::kOverBudget);
    }
  }
  if (bounds_state_ == PartState::kPresent) AppendCompressed(bounds_writer_.bytes(), &bounds_);
  PackedInts::AppendBits(missing_, num_granules_, &marks_);
  PackedInts::AppendBits(present_, num_granules_, &marks_);
}

ColumnHeader GranuleColumnBuilder::MakeHeader() const {
  ColumnHeader header;
  header.name = options_.name;
  header.type = options_.type;
  header.target_fpr = options_.target_fpr;
  header.filters = filter_state_;
  header.form = form_;
  header.bounds = bounds_state_;
  header.num_distinct = num_distinct_;
  header.num_probes = sizer_.num_probes();
  header.classes = classes_;
  return header;
}

void GranuleColumnBuilder::Append(std::string* out, ColumnHeader* header) const {
  const size_t start = out->size();
  out->append(marks_);
  header->mark_bytes = marks_.size();
  const size_t filter_start = out->size();
  if (form_ == GranuleFilterForm::kPostings) {
    out->append(postings_);
  } else if (filter_state_ == PartState::kPresent) {
    AppendFilters({hashes_, counts_}, classes_, sizer_.num_probes(), out);
  }
  header->filter_bytes = out->size() - filter_start;
  out->append(bounds_);
  header->bounds_bytes = bounds_.size();
  header->checksum = Checksum(AsBytes(std::string_view(*out).substr(start)));
}

uint64_t GranuleColumnBuilder::MemoryBytes() const noexcept {
  return (hashes_.capacity() + counts_.capacity() + missing_.capacity() + present_.capacity()) *
             sizeof(uint64_t) +
         distinct_.memory_bytes() + bounds_writer_.memory_bytes() + bounds_.capacity();
}

}  // namespace blocksieve::internal
