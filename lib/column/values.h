#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "blocksieve/column.h"

namespace blocksieve {

/// What an index holds for a text.
enum class Tokeniser : uint8_t {
  kNone,    ///< the whole value
  kWords,   ///< its words: longest runs of ASCII letters and digits and bytes >= 0x80
  kNgrams,  ///< its n-grams: every n characters in a row; a text of fewer has none
};

/// The parts that an index of a column has.
enum class IndexParts : uint8_t {
  /// bounds, and filters unless bounds alone do nearly as well: GranuleColumnOptions
  kChosen,
  kBoth,     ///< bounds and filters
  kFilters,  ///< filters, for equality, IN and HAS
  kBounds,   ///< least and greatest values, for ranges and orders
};

/// Refers to a callable `bool(const Value&)`, which it does not own. The callable gets the values
/// of a column one by one and returns whether it wants more; bytes of a value are valid only during
/// the call. A std::function would allocate for every row.
class ValueVisitor {
 public:
  /// `callable` must outlive the visitor and its copies.
  template <class Callable>
  ValueVisitor(const Callable& callable) noexcept  // NOLINT: implicit, to take a lambda
      : callable_(std::addressof(callable)),
        call_([](const void* object, const Value& value) -> bool {
          return (*static_cast<const Callable*>(object))(value);
        }) {}

  /// Gives the callable a value and returns whether it wants more.
  bool operator()(const Value& value) const { return call_(callable_, value); }

 private:
  const void* callable_;
  bool (*call_)(const void* object, const Value& value);
};

}  // namespace blocksieve

namespace blocksieve::internal {

/// @{
/// What the text form of a column says.
Tokeniser TokeniserOf(const Column& column) noexcept;
uint32_t NgramLength(const Column& column) noexcept;  ///< 0 without n-grams.
IndexParts IndexPartsOf(const Column& column) noexcept;
/// @}

/// Whether a row can have more than one value. Tokens of one text do not count.
bool IsArray(const Column& column) noexcept;

/// The number of the field that the column reads. None if it reads something else.
std::optional<uint32_t> FieldNumber(const Column& column) noexcept;

/// The same column for another field. REQUIRES: FieldNumber(column), and
/// 1 <= number <= Column::kMaxFieldNumber.
Column WithFieldNumber(const Column& column, uint32_t number);

/// Gives `visit` what an index holds for a row: its values, or their tokens. Returns whether the
/// row has the column, also if `visit` stops early; a row with a text without tokens has it. Does
/// not allocate unless the column is JSON.
bool ForEachIndexed(const Column& column, std::string_view row, ValueVisitor visit);

/// Gives `visit` what predicates compare: the values, which are whole texts in a tokenised column.
/// Otherwise like ForEachIndexed.
bool ForEachCompared(const Column& column, std::string_view row, ValueVisitor visit);

/// Gives `visit` the value, or its tokens. Returns whether it wants more.
bool ForEachToken(const Column& column, const Value& value, ValueVisitor visit);

/// What the functions above are friends by.
struct ColumnAccess {
  static const ColumnDefinition& Definition(const Column& column) noexcept {
    return *column.definition_;
  }
  static Column Make(std::shared_ptr<const ColumnDefinition> definition) noexcept {
    return Column(std::move(definition));
  }
};

}  // namespace blocksieve::internal
