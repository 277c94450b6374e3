// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "integration/cli/term/terminal.h"

namespace blocksieve::term {
namespace {

TEST(ProgressTextTest, HasAmountAndShare) {
  EXPECT_EQ(ProgressText("loading", 250, 1000, 2000, "row"), "loading: 2,000 rows, 25 %");
  EXPECT_EQ(ProgressText("compacting", 3, 9, 30'000'000, "byte"), "compacting: 30.0 MB, 33 %");
  EXPECT_EQ(ProgressText("indexing", 1, 10'001, 1, "file"), "indexing: 1 file, 0 %");
  EXPECT_EQ(ProgressText("loading", 250, 0, 2000, "row"), "loading: 2,000 rows");
  EXPECT_EQ(ProgressText("scanning", 2000, 1000, 2000, "row"), "scanning: 2,000 rows, 100 %");
}

TEST(NumberTextTest, HasSignificantDigitsWithoutExponents) {
  for (const auto& [number, text] : {std::pair{0.0, "0"},
                                     {0.00000123456, "0.00000123"},
                                     {0.0097241, "0.00972"},
                                     {0.5, "0.5"},
                                     {1.0, "1"},
                                     {2.0 / 3, "0.667"},
                                     {45.26, "45.3"},
                                     {99.96, "100"},
                                     {100.0, "100"},
                                     {9090.4, "9,090"},
                                     {1.5e6, "1,500,000"},
                                     {-12.34, "-12.3"},
                                     {-1234.0, "-1,234"}}) {
    EXPECT_EQ(NumberText(number), text);
  }
  EXPECT_EQ(NumberText(0.0001, 4), "0.0001");
  EXPECT_EQ(NumberText(36.7879, 2), "37");
}

}  // namespace
}  // namespace blocksieve::term
