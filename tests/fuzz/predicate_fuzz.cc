#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "tests/fuzz/fuzz.h"

// Input: definitions of columns, one per line; an empty line; a condition; a zero byte; a row. What
// can be read is written in a form that reads as the same again, and has an answer for any row.

namespace blocksieve::testing {
namespace {

std::string_view Cut(std::string_view* text, std::string_view end) {
  const size_t at = text->find(end);
  const std::string_view piece = text->substr(0, at);
  text->remove_prefix(at == std::string_view::npos ? text->size() : at + end.size());
  return piece;
}

std::vector<Column> ReadColumns(std::string_view lines) {
  std::vector<Column> columns;
  while (!lines.empty()) {
    const Result<Column> column = Column::Parse(Cut(&lines, "\n"));
    if (!column.ok()) continue;
    const Result<Column> again = Column::Parse(column->ToText());
    Require(again.ok() && *again == *column, "a column's text reads as the same column");
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace
}  // namespace blocksieve::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blocksieve;
  using namespace blocksieve::testing;
  std::string_view row = AsText({data, size});
  const std::vector<Column> columns = ReadColumns(Cut(&row, "\n\n"));
  const std::string_view condition = Cut(&row, std::string_view("\0", 1));
  for (const Column& column : columns) {
    column.ForEachIndexed(row, [](const Value&) { return true; });
  }
  size_t position = 0;
  const Result<Predicate> predicate = Predicate::Parse(condition, columns, &position);
  if (!predicate.ok()) {
    Require(position <= condition.size() + 1, "an error's position is in the text");
    return 0;
  }
  const Result<Predicate> again = Predicate::Parse(predicate->ToText(), columns);
  Require(again.ok() && again->ToText() == predicate->ToText(),
          "a condition's text reads as itself");
  Require(predicate->Matches(row) == again->Matches(row), "and means the same");
  const auto no_index = [](const Column&) -> const ColumnIndex* { return nullptr; };
  Require(!predicate->CanSkip(no_index) || predicate->Candidates(1, no_index).IsEmpty(),
          "without an index only what is never true can skip");
  if (predicate->Matches(row)) {
    Require(predicate->Candidates(1, no_index).Has(0), "no match is ever skipped");
  }
  return 0;
}
