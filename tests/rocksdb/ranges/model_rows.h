#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace blocksieve::testing {

/// What a database holds at some moment, in order.
using Rows = std::vector<std::pair<std::string, std::string>>;

/// Bounds of an iterator: [lower, upper).
struct RowBounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// Where an iterator over rows has to be: the row's number, or none.
using RowPosition = std::optional<size_t>;

/// The first row whose key is not below `key`; as many as there are if there is none.
size_t FirstNotBelow(const Rows& rows, const std::string& key);

/// @{
/// Where moves of an iterator end.
RowPosition SeekRow(const Rows& rows, const RowBounds& bounds, const std::string& key);
RowPosition SeekRowForPrev(const Rows& rows, const RowBounds& bounds, const std::string& key);
RowPosition FirstRow(const Rows& rows, const RowBounds& bounds);
RowPosition LastRow(const Rows& rows, const RowBounds& bounds);
RowPosition NextRow(const Rows& rows, const RowBounds& bounds, size_t row);
RowPosition PreviousRow(const Rows& rows, const RowBounds& bounds, size_t row);
/// @}

/// The map that a database is compared with.
class RowModel {
 public:
  using Map = std::map<std::string, std::string>;

  void Put(const std::string& key, const std::string& value) { Change()[key] = value; }
  void Delete(const std::string& key) { Change().erase(key); }
  void Append(const std::string& key, const std::string& operand);
  void DeleteRange(const std::string& begin, const std::string& end);

  const Map& map() const { return map_; }

  /// What there is now; the same object until something is changed.
  std::shared_ptr<const Rows> Now();

 private:
  Map& Change() {
    now_.reset();
    return map_;
  }

  Map map_;
  std::shared_ptr<const Rows> now_;
};

/// What merging makes of a value: appended, but no longer than kMostMerged bytes, the last ones.
void MergeInto(std::string* value, std::string_view operand);
inline constexpr size_t kMostMerged = 60;

}  // namespace blocksieve::testing
