#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <optional>
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

}  // namespace blocksieve::internal
