#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "blocksieve/predicate.h"

namespace blocksieve::internal {

/// A row with its position in an order: `sort_key` is the SortKey of its smallest or largest value.
struct OrderedRow {
  std::string sort_key;
  std::string key;
  std::string value;
};

/// The first `limit` rows of an order among those added. Memory: `limit` rows.
class TopRows {
 public:
  using KeyLess = std::function<bool(const std::string&, const std::string&)>;

  /// `less` compares keys. REQUIRES: limit > 0
  TopRows(const ScanOrder& order, uint64_t limit, KeyLess less = std::less<std::string>());

  /// Adds a row. Ignores rows without a value, and duplicates (same key and value).
  void Add(std::string_view key, std::string_view value);

  /// Whether a row with this SortKey could be among the first rows.
  bool WouldTake(const std::string& sort_key) const;

  /// Rows that are missing to the limit.
  uint64_t num_wanted() const { return limit_ - rows_.size(); }

  /// In order.
  const auto& rows() const { return rows_; }

 private:
  const ScanOrder order_;
  const uint64_t limit_;
  std::set<OrderedRow, std::function<bool(const OrderedRow&, const OrderedRow&)>> rows_;
};

}  // namespace blocksieve::internal
