#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"

namespace blocksieve::testing {

/// An index together with its bytes.
class TestIndex {
 public:
  explicit TestIndex(std::string bytes)
      : bytes_(std::make_unique<std::string>(std::move(bytes))),
        index_(*GranuleIndex::Open(AsBytes(*bytes_))) {}

  /// The same of bytes that stay where they are.
  TestIndex(ByteView bytes, Kernel kernel) : index_(*GranuleIndex::Open(bytes, kernel)) {}

  const GranuleIndex& operator*() const { return index_; }
  const GranuleIndex* operator->() const { return &index_; }
  const std::string& bytes() const { return *bytes_; }

  size_t num_granules() const { return static_cast<size_t>(index_.num_granules()); }
  GranuleSet All() const { return GranuleSet::All(num_granules()); }

  GranuleSet Containing(size_t column, const Value& value) const {
    GranuleSet set = All();
    index_.column_index(column).KeepContaining(value.Hash(), &set);
    return set;
  }
  GranuleSet Overlapping(size_t column, const ValueRange& range) const {
    GranuleSet set = All();
    index_.column_index(column).KeepOverlapping(range, &set);
    return set;
  }
  GranuleSet Differing(size_t column, const Value& value) const {
    GranuleSet set = All();
    index_.column_index(column).KeepDiffering(value, &set);
    return set;
  }
  GranuleSet Missing(size_t column) const {
    GranuleSet set = All();
    index_.column_index(column).KeepMissing(&set);
    return set;
  }
  GranuleSet Present(size_t column) const {
    GranuleSet set = All();
    index_.column_index(column).KeepPresent(&set);
    return set;
  }

 private:
  std::unique_ptr<std::string> bytes_;
  GranuleIndex index_;
};

inline GranuleIndexBuilder MakeIndexBuilder(const GranuleIndexOptions& options) {
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(options);
  EXPECT_TRUE(builder.ok()) << builder.status().message();
  return *std::move(builder);
}

inline TestIndex FinishIndex(GranuleIndexBuilder* builder) {
  Result<std::string> bytes = builder->Finish();
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return TestIndex(*std::move(bytes));
}

/// Granules of `granule_rows` rows, of any size, and these columns.
inline GranuleIndexOptions IndexOptions(uint64_t granule_rows,
                                        std::vector<GranuleColumnOptions> columns) {
  GranuleIndexOptions options;
  options.granule_rows = granule_rows;
  options.granule_bytes = 0;
  options.columns = std::move(columns);
  return options;
}

inline GranuleColumnOptions Column(ValueType type, double target_fpr = 0.01) {
  GranuleColumnOptions column;
  column.name = "c";
  column.type = type;
  column.target_fpr = target_fpr;
  return column;
}

/// "key 00000017": ascends with its number.
inline std::string RowKey(uint64_t row) {
  std::string digits = std::to_string(row);
  return "key " + std::string(8 - std::min<size_t>(8, digits.size()), '0') + digits;
}

/// The granules of a set, as numbers.
inline std::vector<size_t> Members(const GranuleSet& set) {
  std::vector<size_t> members;
  for (size_t g = 0; g < set.num_granules(); ++g) {
    if (set.Has(g)) members.push_back(g);
  }
  return members;
}

}  // namespace blocksieve::testing
