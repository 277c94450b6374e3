#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/granule/granule_index.h"
#include "tests/support/must.h"

namespace blocksieve::testing {

/// An index together with its bytes.
class TestIndex {
 public:
  explicit TestIndex(std::string bytes)
      : bytes_(std::make_unique<std::string>(std::move(bytes))),
        index_(*GranuleIndex::Open(AsBytes(*bytes_))) {}

  /// The same for bytes that outlive it.
  TestIndex(ByteView bytes, Kernel kernel) : index_(*GranuleIndex::Open(bytes, kernel)) {}

  const GranuleIndex& operator*() const { return index_; }
  const GranuleIndex* operator->() const { return &index_; }
  const std::string& bytes() const { return *bytes_; }

  size_t num_granules() const { return static_cast<size_t>(index_.num_granules()); }
  GranuleSet All() const { return GranuleSet::All(num_granules()); }

  GranuleSet Containing(size_t column, const Value& value) const {
    return Kept(column, &ColumnIndex::PruneByHash, value.Hash());
  }
  /// REQUIRES: ascending values
  GranuleSet ContainingAny(size_t column, std::span<const Value> values) const {
    return Kept(column, &ColumnIndex::PruneByAny, values);
  }
  GranuleSet Overlapping(size_t column, const ValueRange& range) const {
    return Kept(column, &ColumnIndex::PruneByRange, range);
  }
  GranuleSet Differing(size_t column, const Value& value) const {
    return Kept(column, &ColumnIndex::PruneByInequality, value);
  }
  GranuleSet Missing(size_t column) const { return Kept(column, &ColumnIndex::PruneByMissing); }
  GranuleSet Present(size_t column) const { return Kept(column, &ColumnIndex::PruneByPresence); }

 private:
  template <class Keep, class... Arguments>
  GranuleSet Kept(size_t column, Keep keep, const Arguments&... arguments) const {
    GranuleSet set = All();
    (index_.column_index(column).*keep)(arguments..., &set);
    return set;
  }

  std::unique_ptr<std::string> bytes_;
  GranuleIndex index_;
};

inline GranuleIndexBuilder MakeIndexBuilder(const GranuleIndexOptions& options) {
  return Must(GranuleIndexBuilder::Create(options));
}

inline TestIndex FinishIndex(GranuleIndexBuilder* builder) {
  return TestIndex(Must(builder->Finish()));
}

/// "key 00000017": ascends with the number.
inline std::string RowKey(uint64_t row) {
  std::string digits = std::to_string(row);
  return "key " + std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits;
}

/// An index of `num_rows` rows, whose values add(row, builder) adds.
template <class Add>
TestIndex IndexOfRows(const GranuleIndexOptions& options, uint64_t num_rows, Add add) {
  GranuleIndexBuilder builder = MakeIndexBuilder(options);
  for (uint64_t row = 0; row < num_rows; ++row) {
    builder.StartRow(RowKey(row), 1);
    add(row, builder);
  }
  return FinishIndex(&builder);
}

/// Options with granules of `granule_rows` rows, of any size, and these columns.
inline GranuleIndexOptions IndexOptions(uint64_t granule_rows,
                                        std::vector<GranuleColumnOptions> columns) {
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  options.columns = std::move(columns);
  return options;
}

inline GranuleColumnOptions ColumnOf(ValueType type, double target_fpr = 0.01) {
  GranuleColumnOptions column;
  column.name = "c";
  column.type = type;
  column.target_fpr = target_fpr;
  return column;
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
