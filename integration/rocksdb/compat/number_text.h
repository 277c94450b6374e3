#pragma once

#include <array>
#include <charconv>
#include <string>

namespace blocksieve::rocksdb_plugin {

/// The shortest text that FromText reads as the same number. Independent of the locale.
template <class Number>
std::string ToText(Number number) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), result.ptr};
}

/// Returns whether all of `text` is a number in the range of `Number`.
template <class Number>
bool FromText(const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && after == end;
}

}  // namespace blocksieve::rocksdb_plugin
