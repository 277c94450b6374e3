#include "integration/cli/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "blocksieve/column.h"
#include "integration/cli/term/failure.h"
#include "lib/column/values.h"

namespace blocksieve::cli {
namespace {

std::optional<char> ParseByte(std::string_view text) {
  if (text.size() == 1) return text.front();
  if (text == "\\t") return '\t';
  if (text == "\\\\") return '\\';
  if (text.size() != 4 || !text.starts_with("\\x")) return std::nullopt;
  uint8_t byte = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(end - 2, end, byte, 16);
  return error == std::errc() && rest == end ? std::optional(static_cast<char>(byte))
                                             : std::nullopt;
}

// Whether the column splits fields at `delimiter`. Tries it with a text that is a value of every
// type and does not contain the delimiter.
bool HasFieldsOf(const Column& column, char delimiter) {
  const Column second = internal::WithFieldNumber(column, 2);
  for (const char digit : {'1', '2', '3'}) {
    if (digit == delimiter) continue;
    const std::string row = {digit, delimiter, digit};
    if (internal::ForEachCompared(second, row, [](const Value&) { return false; })) return true;
  }
  return false;
}

Column ParseIndexColumn(const std::string& definition, char delimiter, uint32_t key_field) {
  Result<Column> parsed = Column::Parse(definition, delimiter);
  if (!parsed.ok()) term::FailUsage("--index: {}", parsed.status().message());
  Column column = *std::move(parsed);
  const std::optional<uint32_t> field = internal::FieldNumber(column);
  if (!field || !HasFieldsOf(column, delimiter)) return column;
  if (*field == key_field) {
    term::FailUsage(
        "--index is {}, but field {} is the key (--key {}); allowed: the other fields, which "
        "become "
        "the value",
        definition, *field, key_field);
  }
  return internal::WithFieldNumber(column, *field < key_field ? *field : *field - 1);
}

}  // namespace

char ParseDelimiter(std::string_view text, std::string_view option) {
  const std::optional<char> delimiter = ParseByte(text);
  if (!delimiter || *delimiter == '\n') {
    term::FailUsage(R"({} is '{}'; allowed: one byte other than the line end, or \t, \\ or \xHH)",
                    option, text);
  }
  return *delimiter;
}

std::string DelimiterName(char delimiter) {
  if (delimiter == '\t') return "TAB";
  const bool is_printable = delimiter > ' ' && delimiter < '\x7f';
  return is_printable ? fmt::format("'{}'", delimiter)
                      : fmt::format("'\\x{:02x}'", static_cast<uint8_t>(delimiter));
}

bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value) {
  assert(key_field >= 1);
  size_t begin = 0;
  for (uint32_t field = 1; field < key_field; ++field) {
    const size_t end = line.find(delimiter, begin);
    if (end == line.npos) return false;
    begin = end + 1;
  }
  const size_t end = std::min(line.find(delimiter, begin), line.size());
  *key = line.substr(begin, end - begin);
  // Drops one of the delimiters next to the key.
  if (begin == 0) {
    *value = line.substr(std::min(end + 1, line.size()));
  } else {
    *value = line.substr(0, begin - 1);
    *value += line.substr(end);
  }
  return true;
}

uint64_t CountFields(std::string_view line, char delimiter) {
  return static_cast<uint64_t>(std::count(line.begin(), line.end(), delimiter)) + 1;
}

std::vector<Column> ParseIndexColumns(const std::vector<std::string>& definitions, char delimiter,
                                      uint32_t key_field) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    Column column = ParseIndexColumn(definition, delimiter, key_field);
    const bool is_repeated = std::any_of(columns.begin(), columns.end(), [&](const Column& other) {
      return other.name() == column.name();
    });
    if (is_repeated)
      term::FailUsage("--index is {}, but its name is already used; allowed: different names",
                      definition);
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace blocksieve::cli
