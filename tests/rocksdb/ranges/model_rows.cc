#include "tests/rocksdb/ranges/model_rows.h"

#include <algorithm>

namespace blocksieve::testing {
namespace {

RowPosition Within(const Rows& rows, const RowBounds& bounds, size_t row) {
  if (row >= rows.size()) return std::nullopt;
  const std::string& key = rows[row].first;
  if (bounds.upper && key >= *bounds.upper) return std::nullopt;
  if (bounds.lower && key < *bounds.lower) return std::nullopt;
  return row;
}

RowPosition LastBelow(const Rows& rows, const RowBounds& bounds, const std::string& key) {
  const size_t behind = FirstNotBelow(rows, key);
  return behind == 0 ? std::nullopt : Within(rows, bounds, behind - 1);
}

}  // namespace

size_t FirstNotBelow(const Rows& rows, const std::string& key) {
  const auto at =
      std::lower_bound(rows.begin(), rows.end(), key,
                       [](const auto& row, const std::string& k) { return row.first < k; });
  return static_cast<size_t>(at - rows.begin());
}

RowPosition SeekRow(const Rows& rows, const RowBounds& bounds, const std::string& key) {
  return Within(rows, bounds,
                FirstNotBelow(rows, bounds.lower ? std::max(key, *bounds.lower) : key));
}

RowPosition SeekRowForPrev(const Rows& rows, const RowBounds& bounds, const std::string& key) {
  if (bounds.upper && key >= *bounds.upper) return LastBelow(rows, bounds, *bounds.upper);
  return LastBelow(rows, bounds, key + '\0');
}

RowPosition FirstRow(const Rows& rows, const RowBounds& bounds) {
  return SeekRow(rows, bounds, "");
}

RowPosition LastRow(const Rows& rows, const RowBounds& bounds) {
  if (bounds.upper) return LastBelow(rows, bounds, *bounds.upper);
  return rows.empty() ? std::nullopt : Within(rows, bounds, rows.size() - 1);
}

RowPosition NextRow(const Rows& rows, const RowBounds& bounds, size_t row) {
  return Within(rows, bounds, row + 1);
}

RowPosition PreviousRow(const Rows& rows, const RowBounds& bounds, size_t row) {
  return row == 0 ? std::nullopt : Within(rows, bounds, row - 1);
}

void MergeInto(std::string* value, std::string_view operand) {
  value->append(operand);
  if (value->size() > kMostMerged) value->erase(0, value->size() - kMostMerged);
}

void RowModel::Append(const std::string& key, const std::string& operand) {
  MergeInto(&Change()[key], operand);
}

void RowModel::DeleteRange(const std::string& begin, const std::string& end) {
  Map& map = Change();
  map.erase(map.lower_bound(begin), map.lower_bound(end));
}

std::shared_ptr<const Rows> RowModel::Now() {
  if (now_ == nullptr) now_ = std::make_shared<const Rows>(map_.begin(), map_.end());
  return now_;
}

}  // namespace blocksieve::testing
