#include "integration/cli/commands/index_columns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "blocksieve/value.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/split_row.h"

namespace blocksieve::cli {
namespace {

// Whether the fields that the column reads end at `delimiter`: tried out, with a text that is a
// value of every type and holds no delimiter, whichever these are.
bool HasFieldsOf(const Column& column, char delimiter) {
  const Column second = column.WithFieldNumber(2);
  for (const char digit : {'1', '2', '3'}) {
    if (digit == delimiter) continue;
    const std::string row = {digit, delimiter, digit};
    if (second.ForEachCompared(row, [](const Value&) { return false; })) return true;
  }
  return false;
}

Column ParseIndexColumn(const std::string& definition, char delimiter, uint32_t key_field) {
  Result<Column> parsed = Column::Parse(definition, delimiter);
  if (!parsed.ok()) FailUsage("--index: {}", parsed.status().message());
  Column column = *std::move(parsed);
  const std::optional<uint32_t> field = column.field_number();
  if (!field || !HasFieldsOf(column, delimiter)) return column;
  if (*field == key_field) {
    FailUsage(
        "--index {}: field {} is the key (--key {}), and indexes are of the other fields, which "
        "become the value",
        definition, *field, key_field);
  }
  return column.WithFieldNumber(FieldOfValue(*field, key_field));
}

}  // namespace

std::vector<Column> ParseIndexColumns(const std::vector<std::string>& definitions, char delimiter,
                                      uint32_t key_field) {
  std::vector<Column> columns;
  for (const std::string& definition : definitions) {
    Column column = ParseIndexColumn(definition, delimiter, key_field);
    const bool is_repeated = std::any_of(columns.begin(), columns.end(), [&](const Column& other) {
      return other.name() == column.name();
    });
    if (is_repeated) FailUsage("--index {}: the name is given twice", definition);
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace blocksieve::cli
