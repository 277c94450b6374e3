#pragma once

#include <string>
#include <string_view>

namespace blocksieve::cli {

/// Reads what is given for --delimiter: one byte, or \t, \\ or \xHH; not the line end.
/// Throws UsageError.
char ParseDelimiter(std::string_view text);

/// For messages: "TAB", "','" or "'\x01'".
std::string DelimiterName(char delimiter);

}  // namespace blocksieve::cli
