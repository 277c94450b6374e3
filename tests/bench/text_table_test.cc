#include "bench/support/text_table.h"

#include <gtest/gtest.h>

namespace blocksieve::bench {
namespace {

TEST(TextTableTest, AlignsUnderHeadersOfSeveralLines) {
  TextTable table({"", "size\nKiB", "n"});
  table.AddRow({"a name", "1.0", "12"});
  EXPECT_EQ(table.ToString(),
            "        size\n"
            "         KiB   n\n"
            "----------------\n"
            "a name   1.0  12\n");
}

}  // namespace
}  // namespace blocksieve::bench
