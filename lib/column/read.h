#pragma once

#include <optional>
#include <string_view>

#include "blocksieve/value.h"
#include "lib/column/value_number.h"

namespace blocksieve::internal {

/// The value that `text` spells in a column of `type`; refers to the text. None: not such a number.
inline std::optional<Value> ReadValue(ValueType type, std::string_view text) {
  switch (type) {
    case ValueType::kInt:
      if (const auto number = ParseInt(text)) return Value::Int(*number);
      return std::nullopt;
    case ValueType::kUint:
      if (const auto number = ParseUint(text)) return Value::Uint(*number);
      return std::nullopt;
    case ValueType::kFloat:
      if (const auto number = ParseFloat(text)) return Value::Float(*number);
      return std::nullopt;
    case ValueType::kBytes:
      break;
  }
  return Value::Bytes(text);
}

}  // namespace blocksieve::internal
