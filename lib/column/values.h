#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
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

// Values parsed from text, for fields of rows and literals of predicates alike. Independent of the
// locale.

/// The ValueType with the largest number.
ValueType MaxValueType() noexcept;

/// The value that `text` spells in a column of `type`; bytes refer to the text. nullopt if it is
/// not a number of the type. Integers are decimal digits, for kInt after an optional '-', without
/// blanks or '+'. For floats see ParseFloat.
std::optional<Value> ReadValue(ValueType type, std::string_view text);

/// The double nearest to a decimal number such as -12, .5 or 1e-3, or inf, infinity or nan in any
/// case. Numbers out of range become infinity or zero, as IEEE 754 rounds them. nullopt if the text
/// is something else.
std::optional<double> ParseFloat(std::string_view text);

/// A decimal number, exact at any length: "-12", "1.5", "1e400". Makes `n < 1.5` and `n < 1e30`
/// exact for integer columns, where a conversion to double would move the bound.
class Decimal {
 public:
  /// nullopt if `text` is not a decimal number (infinity and NaN are not). A '+' is allowed.
  static std::optional<Decimal> Parse(std::string_view text);

  bool is_negative() const noexcept { return is_negative_ && !digits_.empty(); }

  /// The integer part of the magnitude. nullopt if it exceeds 2^64 - 1.
  std::optional<uint64_t> IntegerPart() const noexcept;

  /// Whether the fraction is not zero.
  bool HasFraction() const noexcept;

 private:
  bool is_negative_ = false;
  std::string digits_;  // significant digits: neither the first nor the last is zero
  int64_t point_ = 0;   // the value is 0.DIGITS * 10^point_
};

}  // namespace blocksieve::internal
