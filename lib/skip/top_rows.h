#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "blocksieve/predicate.h"

namespace blocksieve::internal {

/// A row, and where it stands in an order: `sort_key` is the SortKey of its least or greatest
/// value.
struct OrderedRow {
  std::string sort_key;
  std::string key;
  std::string value;
};

/// The first rows of an order, of those that were added. Takes memory for as many as the limit
/// says.
class TopRows {
 public:
  using KeyLess = std::function<bool(const std::string&, const std::string&)>;

  /// `less` compares keys. REQUIRES: limit > 0
  TopRows(const ScanOrder& order, uint64_t limit, KeyLess less = std::less<std::string>());

  /// Rows without a value are ignored, as is one of a key that was added before, with the same
  /// value.
  void Add(std::string_view key, std::string_view value);

  /// Whether a row of this SortKey could be among the first ones.
  bool WouldTake(const std::string& sort_key) const;

  /// How many more rows are wanted, whatever they are.
  uint64_t num_wanted() const { return limit_ - rows_.size(); }

  /// In their order.
  const auto& rows() const { return rows_; }

 private:
  struct Less {
    bool is_descending;
    KeyLess keys;
    bool operator()(const OrderedRow& a, const OrderedRow& b) const;
  };

  const ScanOrder order_;
  const uint64_t limit_;
  std::set<OrderedRow, Less> rows_;
};

}  // namespace blocksieve::internal
