#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace blocksieve::cli {

/// Makes a row of a line: field `key_field`, counted from 1, is the key; the other fields, in order
/// and joined by the delimiter, are the value. The key refers to the line. False, and nothing set,
/// if the line has fewer fields.
bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value);

/// Fields of a line: one more than it has delimiters.
uint64_t CountFields(std::string_view line, char delimiter);

/// The field of the value that field `field` of the line becomes. REQUIRES: field != key_field
inline uint32_t FieldOfValue(uint32_t field, uint32_t key_field) {
  return field < key_field ? field : field - 1;
}

}  // namespace blocksieve::cli
