#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"

// How a line of input becomes a row: one of its fields is the key, the others are the value.

namespace blocksieve::cli {

/// Reads what is given for an option such as --delimiter: one byte, or \t, \\ or \xHH; not the line
/// end. Throws UsageError.
char ParseDelimiter(std::string_view text, std::string_view option = "--delimiter");

/// For messages: "TAB", "','" or "'\x01'".
std::string DelimiterName(char delimiter);

/// The number of fields of a line: one more than it has delimiters.
uint64_t CountFields(std::string_view line, char delimiter);

/// Makes a row of a line: field `key_field`, counted from 1, is the key; the other fields, in order
/// and joined by the delimiter, are the value. The key refers to the line. False, and nothing set,
/// if the line has fewer fields. REQUIRES: key_field >= 1
bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value);

/// Reads columns that are given as NAME=EXTRACTOR and count fields in the input line, and returns
/// them as columns of the stored value, which lacks field `key_field`. Fields that end at another
/// delimiter, as in field(,):2, already count in the value.
/// Throws UsageError: not a definition, a column of the key, a name given twice.
std::vector<Column> ParseIndexColumns(const std::vector<std::string>& definitions, char delimiter,
                                      uint32_t key_field);

}  // namespace blocksieve::cli
