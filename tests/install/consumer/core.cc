// The whole core: builds the index of one row and asks a predicate for that row.

#include <blocksieve/bytes.h>
#include <blocksieve/column.h>
#include <blocksieve/granule_index.h>
#include <blocksieve/predicate.h>

#include <cstdio>

int main() {
  const auto column = blocksieve::Column::Parse("name=field:1");
  if (!column.ok()) return 1;
  const auto predicate = blocksieve::Predicate::Parse("name = 'pear'", {&*column, 1});
  if (!predicate.ok()) return 1;

  auto builder = blocksieve::GranuleIndexBuilder::Create({.columns = {{.name = "name"}}});
  if (!builder.ok()) return 1;
  builder->StartRow("key", 10);
  builder->AddValue(0, blocksieve::Value::Bytes("pear"));
  const auto bytes = builder->Finish();
  if (!bytes.ok()) return 1;
  const auto index = blocksieve::GranuleIndex::Open(blocksieve::AsBytes(*bytes));

  const bool works = index.ok() && predicate->Matches("pear") && !predicate->Matches("plum");
  std::puts(works ? "core: works" : "core: wrong answer");
  return works ? 0 : 1;
}
