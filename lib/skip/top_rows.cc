// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/top_rows.h"

#include <cassert>
#include <iterator>
#include <optional>
#include <utility>

#include "lib/column/sort_key.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

TopRows::TopRows(const ScanOrder& order, uint64_t limit, KeyLess less)
    : order_(order),
      limit_(limit),
      rows_([is_descending = order.is_descending, less = std::move(less)](const OrderedRow& a,
                                                                          const OrderedRow& b) {
        if (a.sort_key != b.sort_key) return (a.sort_key < b.sort_key) != is_descending;
        return less(a.key, b.key);
      }) {
  assert(limit > 0);
}

void TopRows::Add(std::string_view key, std::string_view value) {
  std::optional<std::string> best;
  internal::ForEachCompared(order_.column, Row(key, value), [&](const Value& one) {
    std::string sort_key = SortKey(one);
    if (!best || (sort_key < *best) != order_.is_descending) best = std::move(sort_key);
    return true;
  });
  if (!best || !WouldTake(*best)) return;
  rows_.insert({*std::move(best), std::string(key), std::string(value)});
  if (rows_.size() > limit_) rows_.erase(std::prev(rows_.end()));
}

bool TopRows::WouldTake(const std::string& sort_key) const {
  if (rows_.size() < limit_) return true;
  const std::string& last = rows_.rbegin()->sort_key;
  return sort_key == last || (sort_key < last) != order_.is_descending;
}

}  // namespace blocksieve::internal
