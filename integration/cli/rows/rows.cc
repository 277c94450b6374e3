#include "integration/cli/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <optional>
#include <utility>

#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

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

std::vector<Column> ParseColumns(const std::vector<std::string>& definitions, char delimiter) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    Result<Column> column = Column::Parse(definition, delimiter);
    if (!column.ok()) term::FailUsage("--index: {}", column.status().message());
    const bool is_repeated = std::any_of(columns.begin(), columns.end(), [&](const Column& other) {
      return other.name() == column->name();
    });
    if (is_repeated) {
      term::FailUsage("--index is {}, but its name is already used; allowed: different names",
                      term::Shown(definition));
    }
    columns.push_back(*std::move(column));
  }
  return columns;
}

}  // namespace blocksieve::cli
