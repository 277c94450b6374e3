#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Numbers and bytes as people read them.

namespace blocksieve::term {

/// 1234567 as "1,234,567".
std::string WithCommas(uint64_t number);

/// "1 row", "1,234 rows".
std::string CountOf(uint64_t number, std::string_view what);

/// Whether the bytes are well-formed UTF-8, as JSON texts must be (Unicode 15, table 3-7).
bool IsUtf8(std::string_view bytes);

/// Two lower-case hexadecimal digits per byte.
std::string ToHex(std::string_view bytes);

/// Points at byte `position` of `text`, counted from 1, with two lines: the text around it, and a
/// caret below it. A position after the end points behind the last byte.
/// REQUIRES: position >= 1
std::string PointAt(std::string_view text, size_t position);

}  // namespace blocksieve::term
