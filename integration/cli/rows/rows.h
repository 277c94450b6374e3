#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"

// Splits a line of input into a row: one of its fields is the key, the others are the value.

namespace blocksieve::cli {

/// Parses a delimiter option: one byte, or \t, \\ or \xHH, but not the line end. Throws UsageError.
char ParseDelimiter(std::string_view text, std::string_view option = "--delimiter");

/// The delimiter for messages: "TAB", "','" or "'\x01'".
std::string DelimiterName(char delimiter);

/// The number of fields of a line.
uint64_t CountFields(std::string_view line, char delimiter);

/// Splits a line: field `key_field`, counted from 1, is the key, which refers to the line; the
/// other fields, in order and joined by the delimiter, are the value. False, with nothing set, if
/// the line has fewer fields. REQUIRES: key_field >= 1
bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value);

/// Parses the values of --index, NAME=EXTRACTOR, which number the fields of the stored value.
/// `delimiter`: between these fields. Throws UsageError, also for a repeated name.
std::vector<Column> ParseColumns(const std::vector<std::string>& definitions,
                                 char delimiter = '\t');

}  // namespace blocksieve::cli
