#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/skip_index.h"
#include "lib/skip/column_index.h"
#include "tests/core/column/test_columns.h"

namespace blocksieve::testing {

/// An index together with its bytes.
class TestIndex {
 public:
  explicit TestIndex(std::string bytes)
      : bytes_(std::make_unique<std::string>(std::move(bytes))),
        index_(Must(SkipIndex::Open(AsBytes(*bytes_)))) {
    FindColumns();
  }

  /// The same for bytes that outlive it.
  explicit TestIndex(ByteView bytes) : index_(Must(SkipIndex::Open(bytes))) { FindColumns(); }

  const SkipIndex& operator*() const { return index_; }
  const SkipIndex* operator->() const { return &index_; }
  const std::string& bytes() const { return *bytes_; }

  const internal::ColumnIndex& column(size_t column) const { return *columns_[column]; }
  const IndexColumnInfo& info(size_t column) const { return columns_[column]->info(); }
  size_t num_columns() const { return columns_.size(); }

  size_t num_granules() const { return index_.num_granules(); }
  GranuleSet All() const { return GranuleSet::All(num_granules()); }

  GranuleSet ContainingHash(size_t column, uint64_t hash) const {
    return Kept(column, {.by = internal::PruneBy::kHash, .hash = hash});
  }
  GranuleSet Containing(size_t column, const Value& value) const {
    return ContainingHash(column, value.Hash());
  }
  /// REQUIRES: ascending values
  GranuleSet ContainingAny(size_t column, std::span<const Value> values) const {
    std::vector<uint64_t> hashes;
    for (const Value& value : values) hashes.push_back(value.Hash());
    return Kept(column, {.by = internal::PruneBy::kAny, .values = values, .hashes = hashes});
  }
  GranuleSet Overlapping(size_t column, const ValueRange& range) const {
    return Kept(column, {.by = internal::PruneBy::kRange, .range = range});
  }
  GranuleSet Differing(size_t column, std::span<const Value> values) const {
    return Kept(column, {.by = internal::PruneBy::kDiffers, .values = values});
  }
  GranuleSet Differing(size_t column, const Value& value) const {
    return Differing(column, {&value, 1});
  }
  GranuleSet Missing(size_t column) const {
    return Kept(column, {.by = internal::PruneBy::kMissing});
  }
  GranuleSet Present(size_t column) const {
    return Kept(column, {.by = internal::PruneBy::kPresence});
  }

 private:
  GranuleSet Kept(size_t column, const internal::PruningStep& step) const {
    GranuleSet set = All();
    columns_[column]->Prune(step, &set, nullptr);
    return set;
  }

  // Damaged definitions may be equal to others, or be none.
  void FindColumns() {
    for (const IndexColumnInfo& info : index_.columns()) {
      const Result<Column> column = Column::Parse("c=" + info.key);
      const internal::ColumnIndex* found = column.ok() ? index_.Find(*column) : nullptr;
      if (found != nullptr) columns_.push_back(found);
    }
  }

  std::unique_ptr<std::string> bytes_;
  SkipIndex index_;
  std::vector<const internal::ColumnIndex*> columns_;
};

inline SkipIndexBuilder MakeIndexBuilder(const SkipIndexOptions& options, bool has_keys = true) {
  return Must(SkipIndexBuilder::Create(options, has_keys));
}

inline TestIndex FinishIndex(SkipIndexBuilder* builder) {
  return TestIndex(Must(builder->Finish()).bytes);
}

/// "key 00000017": ascends with the number.
inline std::string RowKey(uint64_t row) {
  std::string digits = std::to_string(row);
  return "key " + std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits;
}

/// An index of `num_rows` rows, whose values add(row, builder) adds.
template <class Add>
TestIndex IndexOfRows(const SkipIndexOptions& options, uint64_t num_rows, Add add) {
  SkipIndexBuilder builder = MakeIndexBuilder(options);
  for (uint64_t row = 0; row < num_rows; ++row) {
    builder.AddEmptyRow(RowKey(row), 1);
    add(row, builder);
  }
  return FinishIndex(&builder);
}

/// Options with granules of `granule_rows` rows, of any size, and these columns.
inline SkipIndexOptions IndexOptions(uint64_t granule_rows, std::vector<Column> columns,
                                     double target_fpr = 0.01) {
  SkipIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  options.target_fpr = target_fpr;
  options.columns = std::move(columns);
  return options;
}

/// A column whose values SkipIndexBuilder::AddValue adds, with a name and key for its number.
inline Column TypedColumn(ValueType type, size_t number = 0, const std::string& parts = "both:") {
  const std::string conversion =
      type == ValueType::kBytes ? "field" : std::string(ValueTypeName(type)) + ":field";
  return MakeColumn("c" + std::to_string(number) + "=" + parts + conversion + ":" +
                    std::to_string(number + 1));
}

/// An index of these rows by granule; by default, with hardly any false positives.
using Granules = std::vector<Texts>;
inline TestIndex IndexGranules(const std::vector<Column>& columns, const Granules& granules,
                               double target_fpr = 1e-7) {
  SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(0, columns, target_fpr));
  for (const Texts& rows : granules) {
    for (const std::string& row : rows) builder.AddRow("key", row);
    builder.CloseGranule();
  }
  return FinishIndex(&builder);
}

/// The numbers of the granules in a set.
inline std::vector<size_t> Members(const GranuleSet& set) {
  std::vector<size_t> members;
  for (size_t g = 0; g < set.num_granules(); ++g) {
    if (set.Has(g)) members.push_back(g);
  }
  return members;
}

}  // namespace blocksieve::testing
