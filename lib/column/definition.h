#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

/// Gets the number of a column, too.
using ColumnVisitor = Visitor<size_t, const Value&>;

/// Tree of the JSON members that columns use: a document is parsed once for all of them. The values
/// of a member are specified at Column.
class JsonMembers {
 public:
  /// A member of the document, or the document itself.
  struct Node {
    std::string name;
    std::optional<uint64_t> index;  // the name as an index of an array
    std::vector<size_t> children;
    std::vector<size_t> columns;  // columns of this member
    std::vector<size_t> below;    // columns of this member and of members inside it
  };

  /// Adds a column of a member.
  void Add(size_t column, const ColumnDefinition& definition);

  bool IsEmpty() const noexcept { return num_columns_ == 0; }

  /// A member that no column uses. Not a std::optional: a full read of one right after a partial
  /// write stalls on store forwarding, which cost 4 % of the time of loading JSON.
  static constexpr size_t kNoNode = static_cast<size_t>(-1);

  /// State of reading one document. Reusable.
  struct Scratch {
    struct Open {
      size_t node = 0;
      bool is_array = false;
      uint64_t next_index = 0;  // array: index of the next element
      size_t guess = 0;         // object: the child expected next
      size_t next = kNoNode;    // object: the child with the latest name
    };
    std::vector<Open> open;           // members around the current position, outermost first
    std::vector<uint8_t> is_visited;  // by node: the first of equal names wins
    std::vector<uint8_t> is_done;     // by column
    std::string text;
    std::string folded;
  };

  /// Visits the values of each column until `visit` returns false for that column. Calls `finish`,
  /// if given, after the last value of a column, and stops if it returns false.
  void Read(std::string_view document, ColumnVisitor visit, Scratch* scratch,
            std::optional<Visitor<size_t>> finish = std::nullopt) const;

 private:
  friend class MemberReader;

  std::vector<Node> nodes_{Node()};                // the first is the document
  std::vector<std::pair<ValueType, bool>> types_;  // by column, and whether it is folded
  size_t num_columns_ = 0;
};

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
