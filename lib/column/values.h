#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string_view>

#include "blocksieve/column.h"

namespace blocksieve {

/// "bytes", "int", "uint" or "float".
std::string_view ValueTypeName(ValueType type) noexcept;

/// How an index splits a text.
enum class Tokeniser : uint8_t {
  kNone,    ///< not at all
  kWords,   ///< into words
  kNgrams,  ///< into all substrings of n characters; a shorter text has none
};

/// The parts of a column's index.
enum class IndexParts : uint8_t {
  /// bounds, and filters unless bounds are nearly as selective
  kAutomatic,
  kBoth,     ///< bounds and filters
  kFilters,  ///< filters, for equality, IN and HAS
  kBounds,   ///< intervals of values, for ranges and orders
};

/// Refers to a callable `bool(Arguments...)`, which it does not own. The callable gets values one
/// by one and returns whether to continue; bytes of a value are valid only during the call. A
/// std::function would allocate for every row.
template <class... Arguments>
class Visitor {
 public:
  /// `callable` must outlive the visitor and its copies.
  template <class Callable>
  Visitor(const Callable& callable) noexcept  // NOLINT: implicit, to take a lambda
      : callable_(std::addressof(callable)),
        call_([](const void* object, Arguments... arguments) -> bool {
          return (*static_cast<const Callable*>(object))(arguments...);
        }) {}

  /// Passes a value and returns whether to continue.
  bool operator()(Arguments... arguments) const { return call_(callable_, arguments...); }

 private:
  const void* callable_;
  bool (*call_)(const void* object, Arguments... arguments);
};

using ValueVisitor = Visitor<const Value&>;

}  // namespace blocksieve

namespace blocksieve::internal {

/// Visits what an index stores for a row: its values, or their tokens. Returns whether the row has
/// the column, even if `visit` stops early or a text has no tokens. Only JSON and folds allocate.
bool ForEachIndexed(const Column& column, const Row& row, ValueVisitor visit);

/// Visits what predicates compare: the values, which are whole texts in a tokenised column.
/// Otherwise like ForEachIndexed.
bool ForEachCompared(const Column& column, const Row& row, ValueVisitor visit);

/// Visits the value, or its tokens. Returns whether to continue.
bool ForEachToken(const Column& column, const Value& value, ValueVisitor visit);

}  // namespace blocksieve::internal
