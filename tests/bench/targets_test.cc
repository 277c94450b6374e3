// What jobs print beside what was to be reached.

#include "bench/support/targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

namespace blocksieve::bench {
namespace {

TEST(TargetsTest, AreMetUpToTheirLimits) {
  Targets targets;
  targets.AtMost("most", 1.25, 1.25, " x");
  targets.AtMost("most", 1.2501, 1.25, " x");
  targets.AtLeast("least", 300, 300);
  targets.AtLeast("least", 299.9, 300);
  targets.AtMostOneIn("part", 1.0 / 404, 300);
  targets.AtMostOneIn("part", 1.0 / 299, 300);
  targets.AtMost("unknown", std::nan(""), 1);
  std::vector<bool> met;
  for (const Target& target : targets.all()) met.push_back(target.is_met());
  EXPECT_EQ(met, (std::vector<bool>{true, false, true, false, true, false, false}));
  EXPECT_EQ(targets.num_met(), 3U);
  EXPECT_EQ(targets.ToText(),
            "to be reached             measured\n"
            "----------------------------------\n"
            "most           <= 1.25 x    1.25 x     met\n"
            "most           <= 1.25 x    1.25 x  MISSED\n"
            "least             >= 300       300     met\n"
            "least             >= 300     299.9  MISSED\n"
            "part            <= 1/300     1/404     met\n"
            "part            <= 1/300     1/299  MISSED\n"
            "unknown             <= 1       nan  MISSED\n"
            "\n3 of 7 are met.\n");
  EXPECT_EQ(targets.ToJson().size(), 7U);
  EXPECT_EQ(targets.ToJson()[1]["met"], false);
}

}  // namespace
}  // namespace blocksieve::bench
