#include "integration/rocksdb/index/counting_indexes.h"

#include <algorithm>

namespace blocksieve::rocksdb_plugin {
namespace {

ColumnExplanation* FindColumn(ScanExplanation* counts, const std::string& name) {
  for (ColumnExplanation& column : counts->columns) {
    if (column.name == name) return &column;
  }
  counts->columns.push_back({name, 0, 0});
  return &counts->columns.back();
}

}  // namespace

/// Passes on, and counts.
class CountingIndexes::CountingIndex final : public ColumnIndex {
 public:
  CountingIndex(const ColumnIndex& index, const GranuleColumnInfo& info, std::string name,
                ScanExplanation* counts)
      : index_(index), info_(info), name_(std::move(name)), counts_(counts) {}

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
    ColumnExplanation* const column = FindColumn(counts_, name_);
    ++column->num_probes;
    column->index_bytes += bytes;
    counts_->index_bytes_touched += bytes;
  }

  const ColumnIndex& index_;
  const GranuleColumnInfo& info_;
  const std::string name_;
  ScanExplanation* const counts_;
};

const ColumnIndex* CountingIndexes::Find(const Column& column) {
  // Text forms, not names: a name may have been dropped and given to another field.
  const std::string definition = column.ToText();
  size_t number = 0;
  while (number < index_.num_columns() && index_.column(number).name != definition) ++number;
  if (number == index_.num_columns()) return nullptr;
  const ColumnIndex& index = index_.column_index(number);
  if (counts_ == nullptr) return &index;
  std::shared_ptr<const ColumnIndex>& counting = indexes_[number];
  if (counting == nullptr) {
    counting =
        std::make_shared<const CountingIndex>(index, index_.column(number), column.name(), counts_);
  }
  return counting.get();
}

}  // namespace blocksieve::rocksdb_plugin
