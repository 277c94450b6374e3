#include "lib/skip/counting_index.h"

#include <utility>

namespace blocksieve::internal {

/// Passes on, and counts.
class CountingIndexes::CountingIndex final : public ColumnIndex {
 public:
  CountingIndex(const ColumnIndex& index, const GranuleColumnInfo& info, std::string name,
                ScanExplanation* explanation)
      : index_(index), info_(info), name_(std::move(name)), explanation_(*explanation) {}

  bool HasFilters() const override { return index_.HasFilters(); }
  bool HasBounds() const override { return index_.HasBounds(); }
  void KeepContaining(uint64_t value_hash, GranuleSet* candidates) const override {
    Count(info_.probe_bytes);
    index_.KeepContaining(value_hash, candidates);
  }
  void KeepContainingAny(std::span<const Value> values, GranuleSet* candidates) const override {
    Count(values.size() * info_.probe_bytes + info_.bounds_bytes);
    index_.KeepContainingAny(values, candidates);
  }
  void KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const override {
    Count(info_.bounds_bytes);
    index_.KeepOverlapping(range, candidates);
  }
  void KeepDiffering(const Value& value, GranuleSet* candidates) const override {
    Count(info_.bounds_bytes);
    index_.KeepDiffering(value, candidates);
  }
  void KeepMissing(GranuleSet* candidates) const override {
    Count(info_.mark_bytes);
    index_.KeepMissing(candidates);
  }
  void KeepPresent(GranuleSet* candidates) const override {
    Count(info_.mark_bytes);
    index_.KeepPresent(candidates);
  }

 private:
  void Count(uint64_t bytes) const {
    ColumnExplanation& column = FindColumn();
    ++column.num_probes;
    column.index_bytes += bytes;
    column.filters.emplace(GranuleFiltersName(info_));
    explanation_.index_bytes_touched += bytes;
  }

  ColumnExplanation& FindColumn() const {
    for (ColumnExplanation& column : explanation_.columns) {
      if (column.name == name_) return column;
    }
    return explanation_.columns.emplace_back(ColumnExplanation{name_, 0, 0, {}});
  }

  const ColumnIndex& index_;
  const GranuleColumnInfo& info_;
  const std::string name_;
  ScanExplanation& explanation_;
};

const ColumnIndex* CountingIndexes::Find(const Column& column) {
  const std::optional<size_t> number = index_.FindColumn(column);
  if (!number) return nullptr;
  std::shared_ptr<const ColumnIndex>& counting = indexes_[*number];
  if (counting == nullptr) {
    const GranuleIndex& granules = index_.granules();
    counting = std::make_shared<const CountingIndex>(
        granules.column_index(*number), granules.column(*number), column.name(), &explanation_);
  }
  return counting.get();
}

}  // namespace blocksieve::internal
