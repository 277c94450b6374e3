#include "blocksieve/filter_kind.h"

#include <gtest/gtest.h>

#include <optional>

namespace blocksieve {
namespace {

TEST(FilterKindNames, AreReadAsTheyAreWritten) {
  for (const FilterKind kind : {FilterKind::kClassicBloom, FilterKind::kBlockedBloom,
                                FilterKind::kRibbon, FilterKind::kCountingBloom}) {
    EXPECT_EQ(ParseFilterKind(FilterKindName(kind)), kind);
  }
  EXPECT_EQ(FilterKindName(static_cast<FilterKind>(99)), "unknown");
  for (const char* const text : {"", "Bloom", "unknown"}) {
    EXPECT_EQ(ParseFilterKind(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace blocksieve
