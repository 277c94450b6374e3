// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <span>

#include "tests/core/filter/test_filters.h"

namespace blocksieve::testing {
namespace {

TEST(FilterBuilderTest, ExceedingTheBudgetIsAnErrorAndResetsTheBuilder) {
  FilterBuilder builder = MakeBuilder({.max_build_bytes = 100'000});
  AddKeys(&builder, 100'000);
  EXPECT_EQ(builder.num_keys(), 100'000u);
  const Result<FinishedFilter> refused = builder.Finish();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_NE(refused.status().message().find("max_build_bytes = 100000"), std::string::npos);

  // Enough for the hashes, but not for their filter.
  AddKeys(&builder, 10'000);
  EXPECT_FALSE(builder.Finish().ok());

  AddKeys(&builder, 1000);
  const OwnedBytes block = FinishOk(builder);
  EXPECT_TRUE(Filter::Open(block.view()).MayContain(PresentKey(999)));
}

// pitfall 8.
TEST(FilterBuilderTest, VerifyBuiltFindsDamage) {
  for (const FilterKind kind : BuildableKinds()) {
    FilterBuilder builder = MakeBuilder({.kind = kind, .keep_hashes = true});
    AddKeys(&builder, 5000);
    const std::string block = Copy(FinishOk(builder));
    EXPECT_TRUE(builder.VerifyBuilt(AsBytes(block)).ok());

    std::string flipped = block;
    flipped[block.size() / 3] = static_cast<char>(flipped[block.size() / 3] ^ 4);
    EXPECT_EQ(builder.VerifyBuilt(AsBytes(flipped)).code(), StatusCode::kCorruption);
    EXPECT_EQ(builder.VerifyBuilt(AsBytes(std::string(6, '\0'))).code(), StatusCode::kCorruption)
        << "became always true";
    const OwnedBytes other = BuildBlock(kind, 0.01, 100);
    EXPECT_EQ(builder.VerifyBuilt(other.view()).code(), StatusCode::kCorruption)
        << "the filter of other keys";
  }
}

TEST(FilterTest, CopiesOutliveTheFilter) {
  Filter copy;
  EXPECT_TRUE(copy.MayContain("b"));
  {
    const auto filter = Filter::Build(std::vector{"a", "c"}, {.target_fpr = 1e-7});
    copy = *filter;
  }
  EXPECT_TRUE(copy.MayContain("a"));
  EXPECT_FALSE(copy.MayContain("b"));
  EXPECT_TRUE(copy.MayContainRange("d", "e"));  // it has no range filter
}

TEST(FilterTest, AnswersRangeQueries) {
  const FilterOptions options{.ranges = true};
  const auto filter = Filter::Build(std::vector{"apple", "pear"}, options);
  EXPECT_TRUE(filter->MayContain("pear"));
  EXPECT_TRUE(filter->MayContainRange("p", "q"));
  EXPECT_FALSE(filter->MayContainRange("q", "r"));

  FilterBuilder builder = Must(FilterBuilder::Create(options));
  builder.AddKey("pear");
  builder.AddKey("apple");
  const FinishedFilter finished = Must(builder.Finish());
  EXPECT_EQ(finished.no_ranges_reason, "keys are not in bytewise order");
  EXPECT_FALSE(finished.has_ranges);
  EXPECT_TRUE(Filter::Open(finished.block.view()).MayContainRange("q", "r"));
  EXPECT_EQ(
      FilterBuilder::Create({.ranges = true, .max_estimated_range_fpr = 1.5}).status().message(),
      "max_estimated_range_fpr is 1.5; allowed: 0 to 1");
}

TEST(FilterTest, TakesAnyRangeOfStrings) {
  const std::string_view views[] = {"a", "b"};
  const auto from_views = Filter::Build(std::span<const std::string_view>(views));
  const auto from_set = Filter::Build(std::set<std::string>{"b", "a"});
  EXPECT_EQ(AsText(from_views->bytes()), AsText(from_set->bytes()));
  EXPECT_EQ(Filter::Build(std::vector<const char*>())->state(), Filter::State::kEmpty);
  EXPECT_EQ(Filter::Build(views, {.target_fpr = 0.7}).status().message(),
            "target_fpr is 0.7; allowed: 1e-07 to 0.5");
}

}  // namespace
}  // namespace blocksieve::testing
