// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "integration/cli/commands/options.h"
#include "integration/cli/rows/rows.h"
#include "integration/cli/term/terminal.h"
#include "lib/column/values.h"
#include "tests/fuzz/fuzz.h"

// Input: a byte, the number of the key's field; arguments of --delimiter and --index, one per line;
// an empty line; lines to load. A line becomes a key and a value that together make up the line.

namespace blocksieve::cli {
namespace {

using blocksieve::testing::Cut;
using blocksieve::testing::Require;

std::optional<char> TryDelimiter(std::string_view text) try {
  const char delimiter = ParseDelimiter(text);
  Require(delimiter != '\n', "the line end is no delimiter");
  nlohmann::json(DelimiterName(delimiter)).dump();  // throws unless it can be printed
  return delimiter;
} catch (const term::UsageError&) {
  return std::nullopt;
}

std::optional<Column> TryIndex(std::string_view definition, char delimiter) try {
  return ParseColumns({std::string(definition)}, delimiter).front();
} catch (const term::UsageError&) {
  return std::nullopt;
}

void CheckJson(std::string_view bytes) {
  nlohmann::ordered_json object;
  SetBytes(&object, "key", bytes);
  const auto again = nlohmann::json::parse(object.dump());
  const auto hex = fmt::format("{:02x}", fmt::join(blocksieve::AsBytes(bytes), ""));
  Require(again.contains("key") ? again["key"] == bytes : again["key_hex"] == hex,
          "any bytes can be written as JSON");
}

void CheckLine(std::string_view line, char delimiter, uint32_t key_field,
               const std::vector<Column>& columns) {
  std::vector<std::string_view> fields;
  SplitLine(line, delimiter, &fields);
  Require(fmt::format("{}", fmt::join(fields, std::string(1, delimiter))) == line,
          "a line is its fields");
  if (fields.size() < key_field) return;
  const std::string_view key = fields[key_field - 1];
  std::string value;
  Require(JoinValue(fields, key_field, delimiter, &value) == 0, "no field has the delimiter");
  CheckJson(key);
  const auto key_at = static_cast<size_t>(key.data() - line.data());
  const std::string before(line.substr(0, key_at));
  Require(before + std::string(key) + std::string(line.substr(key_at + key.size())) == line,
          "the key is a part of the line");
  const bool is_only_field = key.size() == line.size();
  Require(value.size() + key.size() + (is_only_field ? 0 : 1) == line.size(),
          "the rest of the line is the value");
  for (const Column& column : columns) {
    internal::ForEachCompared(column, value, [](const Value& found) {
      Require(!found.ToText().empty() || found.bytes().empty(), "a value of a row can be shown");
      return true;
    });
  }
}

}  // namespace
}  // namespace blocksieve::cli

void blocksieve::testing::TestOneInput(ByteView bytes) {
  using namespace cli;
  if (bytes.empty()) return;
  const uint32_t key_field = 1 + bytes[0] % 8;
  std::string_view rest = AsText(bytes.subspan(1));
  const std::optional<char> delimiter = TryDelimiter(Cut(&rest, "\n"));
  if (!delimiter) return;
  std::vector<Column> columns;
  for (std::string_view line = Cut(&rest, "\n"); !line.empty(); line = Cut(&rest, "\n")) {
    if (auto column = TryIndex(line, *delimiter)) columns.push_back(*column);
  }
  while (!rest.empty()) CheckLine(Cut(&rest, "\n"), *delimiter, key_field, columns);
}
