#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "lib/column/values.h"

namespace blocksieve::internal {

/// Refers to a callable `bool(size_t column, const Value&)`, which it does not own; otherwise like
/// ValueVisitor.
class ColumnVisitor {
 public:
  /// `callable` must outlive the visitor and its copies.
  template <class Callable>
  ColumnVisitor(const Callable& callable) noexcept  // NOLINT: implicit, to take a lambda
      : callable_(&callable),
        call_([](const void* object, size_t column, const Value& value) -> bool {
          return (*static_cast<const Callable*>(object))(column, value);
        }) {}

  bool operator()(size_t column, const Value& value) const {
    return call_(callable_, column, value);
  }

 private:
  const void* callable_;
  bool (*call_)(const void* object, size_t column, const Value& value);
};

/// The members of JSON documents that columns read, as a tree: a document is parsed once for all of
/// them. Column says what their values are.
class JsonMembers {
 public:
  /// A member of the document, or the document itself.
  struct Node {
    std::string name;
    std::optional<uint64_t> index;  // the name, if it is one of an element of an array
    std::vector<size_t> children;
    std::vector<size_t> columns;  // that read this member
    std::vector<size_t> below;    // that read this member or one inside
  };

  /// `column` reads the member that `path` names.
  void Add(size_t column, const std::vector<std::string>& path, ValueType type);

  bool IsEmpty() const noexcept { return num_columns_ == 0; }

  /// Of a member that no column reads. No std::optional: read as a whole right after one of its
  /// parts was written, it waits for that to reach the cache: 4 % of the time of loading JSON.
  static constexpr size_t kNoNode = static_cast<size_t>(-1);

  /// What reading one document needs to remember. Can be used again and again.
  struct Scratch {
    struct Open {
      size_t node = 0;
      bool is_array = false;
      uint64_t next_index = 0;  // in an array
      size_t guess = 0;         // in an object: which child the next name probably is
      size_t next = kNoNode;    // in an object: what the latest name leads to
    };
    std::vector<Open> open;           // members around the place of reading, from the document on
    std::vector<uint8_t> is_visited;  // by node: of equal names the first counts
    std::vector<uint8_t> is_done;     // by column
    std::string text;
  };

  /// Gives `visit` the values of each column, until it returns false for that column.
  void Read(std::string_view document, ColumnVisitor visit, Scratch* scratch) const;

 private:
  friend class MemberReader;

  std::vector<Node> nodes_{Node()};  // the first is the document
  std::vector<ValueType> types_;     // by column
  size_t num_columns_ = 0;
};

}  // namespace blocksieve::internal
