// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/term/terminal.h"

#include <cmath>

namespace blocksieve::term {
std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string CountOf(uint64_t number, std::string_view what) {
  return WithCommas(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

std::string NumberText(double number, int digits) {
  const double size = std::abs(number);
  const int magnitude = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  if (magnitude + 1 >= digits)
    return (number < 0 ? "-" : "") + WithCommas(static_cast<uint64_t>(std::llround(size)));
  std::string text = fmt::format("{:.{}f}", number, digits - 1 - magnitude);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Shown(std::string_view value) {
  size_t end = 80;
  if (value.size() <= end) return std::string(value);
  while ((value[end] & 0xc0) == 0x80 && end > 0) --end;  // to the start of a UTF-8 character
  return std::string(value.substr(0, end)) + "...";
}

}  // namespace blocksieve::term
