#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/json_members.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

/// Where a column's values come from.
enum class ColumnSource : uint8_t { kValue, kField, kFixed, kBinary, kJson };

/// A column's parsed text form.
struct ColumnDefinition {
  std::string name;
  std::string key;  // see Column::key
  IndexParts parts = IndexParts::kAutomatic;

  // Conversion of the source's bytes.
  ValueType type = ValueType::kBytes;
  Tokeniser tokeniser = Tokeniser::kNone;
  uint32_t ngram_length = 0;
  bool is_folded = false;  // values are texts without differences of case, see Fold

  // Position of the source; which members are used depends on its kind.
  ColumnSource source = ColumnSource::kValue;
  uint32_t field = 0;                         // kField, from 1
  char delimiter = '\t';                      // kField
  std::optional<char> element_delimiter;      // kValue, kField, kFixed
  bool is_of_key = false;                     // a part of the key, not of the value
  uint32_t offset = 0;                        // kFixed, kBinary
  bool is_from_end = false;                   // the offset is the distance from the end
  uint32_t width = 0;                         // the same, in bytes
  bool is_big_endian = false;                 // kBinary
  bool is_sign_flipped = false;               // the same, of integers
  bool is_complemented = false;               // the same
  std::string pointer;                        // kJson, as written
  std::vector<std::string> path;              // kJson, the pointer's names without escapes
  std::shared_ptr<const JsonMembers> member;  // kJson, the member at the path, as column 0
};

/// See Column::Parse. Errors: InvalidArgument.
Result<ColumnDefinition> ParseColumnDefinition(std::string_view text, char delimiter);

/// See Column::ToText.
std::string ColumnDefinitionText(const ColumnDefinition& definition);

/// Whether a column with this Column::key is of the key: "key:" stands before its source.
bool IsOfKey(std::string_view key) noexcept;

/// Columns extracted from the same rows. A JSON row is parsed once for all. Not thread-safe.
class ColumnSet {
 public:
  explicit ColumnSet(std::span<const Column> columns);

  const std::vector<Column>& columns() const noexcept { return columns_; }

  /// ForEachIndexed for all columns. `visit` also gets the column's number. If it returns false,
  /// the other tokens of the value are left out.
  void ForEachIndexed(const Row& row, ColumnVisitor visit) { ForEachIndexed(row, true, visit); }

  /// The same for the columns of the key alone, of an entry without a value that is known.
  void ForEachOfKey(std::string_view key, ColumnVisitor visit) {
    if (has_key_columns_) ForEachIndexed({key, {}}, false, visit);
  }

  /// ForEachCompared for all columns. REQUIRES: `visit` returns true
  void ForEachCompared(const Row& row, ColumnVisitor visit);

 private:
  void ForEachIndexed(const Row& row, bool has_value, ColumnVisitor visit);
  template <class Visit>
  void Read(const Row& row, bool has_value, const Visit& visit);

  std::vector<Column> columns_;
  std::vector<uint8_t> has_tokens_;  // by column
  bool has_key_columns_ = false;
  JsonMembers members_;  // of the JSON columns
  JsonMembers::Scratch scratch_;
};

}  // namespace blocksieve::internal
