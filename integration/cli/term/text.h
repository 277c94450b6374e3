#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Numbers and positions as readable text.

namespace blocksieve::term {

/// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

/// "1 row", "1,234 rows".
std::string CountOf(uint64_t number, std::string_view what);

/// A number with this many significant digits, but no trailing zeros and no exponent: "0.0000123",
/// "45.3", "12,345".
std::string NumberText(double number, int digits = 3);

/// 0 if `whole` is 0.
inline double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Shortens a value for a message: up to 80 bytes, then "..." if it is longer.
std::string Shown(std::string_view value);

/// Points at byte `position` of `text`, counted from 1, with two lines: the text around it, and a
/// caret below it. Positions after the end point after the last byte.
/// REQUIRES: position >= 1
std::string PointAt(std::string_view text, size_t position);

/// The most similar known word, or "" if none is similar.
std::string Nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace blocksieve::term
