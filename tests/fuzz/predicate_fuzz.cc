// SPDX-License-Identifier: Apache-2.0

#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "lib/column/values.h"
#include "lib/skip/granule_pruner.h"
#include "tests/fuzz/fuzz.h"

// Input: definitions of columns, one per line; an empty line; a condition; a zero byte; a row. A
// valid condition's text parses to the same condition, which can be evaluated on any row.

namespace blocksieve::testing {
namespace {

std::vector<Column> ReadColumns(std::string_view lines) {
  std::vector<Column> columns;
  while (!lines.empty()) {
    const Result<Column> column = Column::Parse(Cut(&lines, "\n"));
    if (!column.ok()) continue;
    const Result<Column> again = Column::Parse(column->ToText());
    Require(again.ok() && *again == *column, "a column's text parses to the same column");
    columns.push_back(*column);
  }
  return columns;
}

}  // namespace

void TestOneInput(ByteView bytes) {
  std::string_view row = AsText(bytes);
  const std::vector<Column> columns = ReadColumns(Cut(&row, "\n\n"));
  const std::string_view condition = Cut(&row, std::string_view("\0", 1));
  for (const Column& column : columns) {
    internal::ForEachIndexed(column, row, [](const Value&) { return true; });
  }
  size_t position = 0;
  const Result<Predicate> predicate = Predicate::Parse(condition, columns, &position);
  if (!predicate.ok()) {
    Require(position >= 1 && position <= condition.size() + 1,
            "an error's position is in the text");
    return;
  }
  const Result<Predicate> again = Predicate::Parse(predicate->ToText(), columns);
  Require(again.ok() && again->ToText() == predicate->ToText(),
          "a condition's text parses to the same condition");
  Require(predicate->Matches(row) == again->Matches(row), "and means the same");
  const internal::GranulePruner without_index(
      *predicate, internal::ColumnIndexes(predicate->columns().size(), nullptr));
  const GranuleSet candidates = without_index.Candidates(1);
  Require(!without_index.CanPrune() || candidates.IsEmpty(),
          "without an index, only a condition that is never true can prune");
  Require(candidates.Has(0) || !predicate->Matches(row), "no match is ever pruned");
}

}  // namespace blocksieve::testing
