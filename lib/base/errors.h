#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <charconv>
#include <new>  // std::bad_alloc, for callers of OutOfMemory
#include <string>
#include <string_view>
#include <type_traits>

#include "blocksieve/status.h"

/// Returns the error of `expression`, a Status of this library or of RocksDB, if it has one.
#define BLOCKSIEVE_RETURN_IF_ERROR(expression)                \
  do {                                                        \
    if (auto error = (expression); !error.ok()) return error; \
  } while (false)

/// Initializes `declaration` with the value of `expression`, a Result, or returns its error.
#define BLOCKSIEVE_ASSIGN_OR_RETURN(declaration, expression) \
  BLOCKSIEVE_ASSIGN_AT(__LINE__, declaration, expression)
#define BLOCKSIEVE_ASSIGN_AT(line, declaration, expression) \
  BLOCKSIEVE_ASSIGN_FROM(line, declaration, expression)
#define BLOCKSIEVE_ASSIGN_FROM(line, declaration, expression) \
  auto result_##line = (expression);                          \
  if (!result_##line.ok()) return result_##line.status();     \
  declaration = *std::move(result_##line)

/// The end of a function-try-block that returns a Status or a Result.
#define BLOCKSIEVE_CATCH_BAD_ALLOC                \
  catch (const std::bad_alloc&) {                 \
    return ::blocksieve::internal::OutOfMemory(); \
  }

namespace blocksieve::internal {

/// The error that replaces std::bad_alloc. Its message is short enough for std::string not to
/// allocate.
inline Status OutOfMemory() { return Status::ResourceExhausted("out of memory"); }

/// The shortest text that reads back as `value`, in any locale, so that no message shows a value
/// just outside a range as the bound itself.
template <class Number>
std::string ShortestText(Number value) {
  std::array<char, 32> text;
  const std::to_chars_result result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

/// Shortens a text for a message: up to 40 bytes without splitting a UTF-8 character, then "..." if
/// it is longer.
inline std::string Shown(std::string_view text) {
  size_t end = 40;
  if (text.size() <= end) return std::string(text);
  while (end > 36 && (text[end] & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

/// "LOWEST to HIGHEST", as errors, help and documents have it.
template <class Number>
std::string RangeText(Number lowest, Number highest) {
  return ShortestText(lowest) + " to " + ShortestText(highest);
}

/// InvalidArgument "NAME is VALUE; allowed: LOWEST to HIGHEST" unless the value is in the range;
/// NaN never is.
template <class Number>
Status CheckRange(std::string_view name, Number value, std::type_identity_t<Number> lowest,
                  std::type_identity_t<Number> highest) try {
  if (value >= lowest && value <= highest) return Status::Ok();
  return Status::InvalidArgument(std::string(name) + " is " + ShortestText(value) +
                                 "; allowed: " + RangeText(lowest, highest));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve::internal
