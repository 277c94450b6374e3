#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/core/column/test_columns.h"

// A program of its own, since it counts all allocations.

namespace {
size_t allocations = 0;
}  // namespace

// Not inlined, or GCC sees free() meet operator new and warns.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace blocksieve {
namespace {

const std::string kRow = "some/longer/path/than/fits/a/string\t-12\t1.5\t1,2,3\t\xc3\xa9\xc3\xa9";

TEST(ColumnAllocation, ExtractingDoesNot) {
  for (const std::string_view definition :
       {"c=field:1", "c=value", "c=fixed(3,20)", "c=int:2", "c=float:3", "c=int:field[,]:4",
        "c=words:1", "c=ngrams(4):1", "c=int64le(0)", "c=uint:9"}) {
    const Column column = testing::MakeColumn(definition);
    const size_t before = allocations;
    size_t values = 0;
    column.ForEachIndexed(kRow, [&](const Value&) { return ++values != 0; });
    EXPECT_EQ(allocations, before) << definition;
  }
}

TEST(ColumnAllocation, MatchingDoesNot) {
  const std::vector<Column> columns = testing::MakeColumns(
      {"p=field:1", "n=int:2", "a=int:field[,]:4", "w=words:1", "g=ngrams(3):1"});
  const Predicate predicate = testing::MakePredicate(
      "(p LIKE '%longer_path%' OR w HAS 'nothing') AND n BETWEEN -20 AND 1.5 AND a IN (3, 7) AND "
      "NOT (g HAS 'absent' OR p IS NULL) AND w != 'x' AND p STARTSWITH 'some'",
      columns);
  const size_t before = allocations;
  EXPECT_TRUE(predicate.Matches(kRow));
  EXPECT_FALSE(predicate.Matches("some"));
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace blocksieve
