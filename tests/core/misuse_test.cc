// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "blocksieve/predicate.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/tree.h"
#include "tests/core/filter/test_filters.h"

// What callers get wrong: an object that was moved from, an option or a layout outside of its
// range. The answer is an error, or "may match": never a crash, and no key that was added is
// denied.

namespace blocksieve::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNumbers[] = {NAN, -kInfinity, -1, 0,  5e-324, 1e-7, 0.01,  0.3,
                               0.5, 1,          3,  10, 24,     1e6,  1e300, kInfinity};

constexpr int kKeys = 300;
std::string PathKey(int i) { return "a/" + std::to_string(1000 + i) + "/b"; }

// Moves `object`, swaps and moves it to itself; what is left has been moved from.
template <class T>
T MoveAround(T* object) {
  T moved = std::move(*object);
  T& itself = moved;
  moved = std::move(itself);
  T other = std::move(moved);
  std::swap(moved, other);
  return moved;
}

TEST(MovedFromTest, FiltersMayMatch) {
  for (const bool is_owner : {true, false}) {
    const OwnedBytes block = BuildBlock({.ranges = true, .prefixes = "delimiter:/"}, kKeys);
    Filter filter = is_owner ? Must(Filter::Build(std::vector{"a/b", "c/d"}, {.ranges = true}))
                             : Filter::Open(block.view());
    const Filter moved = MoveAround(&filter);
    EXPECT_EQ(moved.state(), Filter::State::kReady);
    EXPECT_FALSE(moved.MayContain("x"));
    EXPECT_EQ(filter.state() == Filter::State::kUnreadable, is_owner);
    EXPECT_EQ(filter.MayContain("x"), is_owner) << "the caller still has the block";
    EXPECT_FALSE(filter.answers_ranges());
    EXPECT_TRUE(filter.MayContainRange("x", "y"));
    EXPECT_TRUE(filter.bytes().empty());
  }
}

TEST(MovedFromTest, ContainersMayMatchAndTakeNoKeys) {
  const BloomLayout layout = *BloomLayout::ForKeys(100, 0.01);
  ClassicBloom classic = *ClassicBloom::Create(layout);
  CountingBloom counting = *CountingBloom::Create(layout);
  classic.Add("a");
  counting.Add("a");
  const ClassicBloom moved_classic = MoveAround(&classic);
  const CountingBloom moved_counting = MoveAround(&counting);
  EXPECT_TRUE(moved_classic.MayContain("a") && moved_counting.MayContain("a"));
  EXPECT_FALSE(moved_classic.MayContain("b") || moved_counting.MayContain("b"));
  classic.Add("c");
  counting.Add("c");
  EXPECT_TRUE(counting.Remove("c"));
  EXPECT_TRUE(classic.MayContain("b") && counting.MayContain("b"));
  EXPECT_EQ(classic.CurrentFpr(), 1);
  EXPECT_EQ(classic.memory_bytes(), 0u);
  EXPECT_FALSE(classic.Serialize().ok() || counting.Serialize().ok() || counting.Project().ok());
  EXPECT_FALSE(classic.UniteWith(moved_classic).ok());
}

TEST(MovedFromTest, BuildersAndBlocksSayThatTheyHaveNothing) {
  FilterBuilder builder = MakeBuilder({.ranges = true, .keep_hashes = true});
  FilterBuilder moved = MoveAround(&builder);
  moved.AddKey("a");
  builder.AddKey("b");
  builder.AddHash(1);
  EXPECT_EQ(builder.num_keys(), 0u);
  EXPECT_EQ(moved.num_keys(), 1u);
  EXPECT_EQ(builder.Finish().status().code(), StatusCode::kInvalidArgument);
  OwnedBytes block = FinishOk(moved);
  EXPECT_EQ(builder.VerifyBuilt(block.view()).code(), StatusCode::kInvalidArgument);
  const OwnedBytes moved_block = MoveAround(&block);
  EXPECT_TRUE(Filter::Open(moved_block.view()).MayContain("a"));
  EXPECT_TRUE(block.view().empty());

  SkipIndexBuilder rows = *SkipIndexBuilder::Create({.columns = {"v=value"}});
  SkipIndexBuilder moved_rows = MoveAround(&rows);
  for (SkipIndexBuilder* each : {&rows, &moved_rows}) {
    each->AddRow("k", "x");
    each->AddValue(0, Value::Bytes("y"));
    each->NoteSequence(1);
    each->LimitGranules(1, 1);
    each->CloseGranule();
  }
  EXPECT_EQ(rows.Finish().status().message(), "moved from");
  EXPECT_EQ(rows.needed_bytes(), 0u);
  const std::string bytes = moved_rows.Finish()->bytes;
  EXPECT_EQ(moved_rows.Finish().status().message(), "finished twice");

  SkipIndex index = *SkipIndex::Open(AsBytes(bytes));
  const SkipIndex moved_index = MoveAround(&index);
  Column column = *Column::Parse("v=value");
  const Column moved_column = MoveAround(&column);
  EXPECT_EQ(column, moved_column);
  Predicate predicate = *Predicate::Compare(column, Comparison::kEqual, Value::Bytes("x"));
  const Predicate moved_predicate = MoveAround(&predicate);
  EXPECT_EQ(predicate.ToText(), moved_predicate.ToText());
  EXPECT_EQ(predicate.columns(), moved_predicate.columns());
  EXPECT_TRUE(moved_index.CanPrune(predicate));
  EXPECT_FALSE(index.CanPrune(predicate)) << "its file is read as a whole";
  EXPECT_EQ(index.num_granules(), 0u);
  EXPECT_TRUE(index.AlwaysMatches(0));
  EXPECT_TRUE(index.columns().empty());
  GranuleSet granules = moved_index.Candidates(predicate);
  EXPECT_TRUE(MoveAround(&granules).Has(0));
  EXPECT_TRUE(granules.Has(0)) << "nothing rules it out";
  EXPECT_EQ(granules.num_granules(), 0u);
}

// pitfall 63.
TEST(MisuseTest, FiltersOfAnyOptionsDenyNoKey) {
  const auto check = [](const FilterOptions& options, const Layout* layout, bool has_sections) {
    Result<FilterBuilder> builder = FilterBuilder::Create(options);
    if (!builder.ok()) return 0;
    for (const bool has_paths : {false, true}) {
      const auto key = [&](int i) { return has_paths ? PathKey(i) : std::to_string(1000 + i); };
      for (int i = 0; i < kKeys; ++i) builder->AddKey(key(i));
      const Result<FinishedFilter> built =
          builder->Finish(layout == nullptr ? builder->layout() : *layout, has_sections);
      if (!built.ok()) continue;
      const Filter filter = Filter::Open(built->block.view());
      EXPECT_NE(filter.state(), Filter::State::kEmpty);
      for (int i = 0; i < kKeys; ++i) {
        EXPECT_TRUE(filter.MayContain(key(i)));
        EXPECT_TRUE(filter.MayContainRange(key(i), key(i) + '\1'));
      }
    }
    return 1;
  };
  int accepted = 0;
  for (int kind = 0; kind < 256; kind += kind == 3 ? 250 : 1) {
    for (int flags = 0; flags < 64; ++flags) {
      FilterOptions options{.kind = static_cast<FilterKind>(kind)};
      options.ranges = (flags & 1) != 0;
      if ((flags & 2) != 0) options.prefixes = (flags & 4) != 0 ? "auto" : "delimiter:/";
      options.prefixes_share_bits = (flags & 8) != 0;
      options.holds_keys = (flags & 16) == 0;
      options.is_partition = (flags & 32) != 0;
      accepted += check(options, nullptr, true) + check(options, nullptr, false);
    }
  }
  EXPECT_GT(accepted, 100);
  constexpr double FilterOptions::*kRates[] = {
      &FilterOptions::target_fpr,       &FilterOptions::range_fpr,
      &FilterOptions::prefix_fpr,       &FilterOptions::max_estimated_range_fpr,
      &FilterOptions::few_prefixes_fpr, &FilterOptions::max_few_prefixes};
  for (const bool is_used : {true, false}) {
    for (const auto rate : kRates) {
      for (const double number : kNumbers) {
        FilterOptions options{.ranges = is_used, .prefixes = is_used ? "delimiter:/" : ""};
        options.*rate = number;
        EXPECT_TRUE(check(options, nullptr, true) == 0 || number >= 0) << number;
      }
    }
  }
  for (const int kind : {0, 1, 2, 3, 77, 254, 255}) {
    for (const double bits : kNumbers) {
      for (const uint32_t probes : {0u, 1u, 16u, 24u, 33u, 255u, 1u << 31}) {
        const Layout layout{static_cast<FilterKind>(kind), bits, probes, bits};
        check({}, &layout, true);
        check({.kind = FilterKind::kNone, .ranges = true}, &layout, true);
        check({.prefixes = "delimiter:/", .prefixes_share_bits = true}, &layout, true);
        EXPECT_GE(BlockBytes(layout, 1000) + PayloadBytes(layout, 1000), 0u);
        EXPECT_NE(LayoutText(layout), "");
        LayoutForBlockBytes(layout.kind, 10, 10);
      }
    }
  }
}

TEST(MisuseTest, GoalsOfAnyNumbersAreErrorsOrPlans) {
  for (const int kind : {0, 1, 2, 77, 254}) {
    for (const double a : kNumbers) {
      for (const double b : kNumbers) {
        const TreeLevel level{a, b, static_cast<FilterKind>(kind), 1};
        const RateGoal goals[] = {
            {.target_fpr = a}, {.wasted_reads = a}, {.bits_per_key = a, .seek_fraction = b}};
        for (const RateGoal& goal : goals) {
          for (const Result<RatePlan>& plan :
               {AllocateRates({}, goal), AllocateByLevel({}, goal), AllocateRates({{level}}, goal),
                AllocateByLevel({{.keys_per_run = 1000}, level}, goal)}) {
            if (!plan.ok()) continue;
            for (const FilterRates& rates : plan->levels) EXPECT_GT(rates.target_fpr, 0);
          }
          EXPECT_FALSE(AllocateForFile({}, 0, goal).ok() || AllocateForFile({level}, 1, goal).ok());
        }
      }
    }
  }
  EXPECT_EQ(RateGoal({.bits_per_key = 3, .seek_fraction = 0.5}).Check().message().substr(0, 32),
            "bits_per_key with range filters ");
  const Tree tree({{.num_keys = 10}, {.num_keys = 10}});
  EXPECT_EQ(tree.WastedReads({}, 1), 2) << "no filters";
  EXPECT_EQ(PlanChanges(tree, {{.file = 7}}).changes.size(), 0u);
}

TEST(MisuseTest, AMalformedListIsNotEmpty) {
  const ColumnList list = {"n=imt:1"};
  EXPECT_FALSE(list.empty());
  EXPECT_FALSE(list == ColumnList());
  const Status status = SkipIndexBuilder::Create({.columns = list}).status();
  EXPECT_NE(status.message().find("n=imt:1"), std::string::npos) << status.message();
}

// Keys of 500 bytes took a hundred times what max_index_bytes promises.
TEST(MisuseTest, KeysThatExceedTheMemoryOfAnIndexGiveItUp) {
  SkipIndexBuilder builder = *SkipIndexBuilder::Create({.columns = {"n=int:1"},
                                                        .block_granules = false,
                                                        .granule_rows = 1,
                                                        .max_index_bytes = 1000});
  for (int i = 0; i < 20'000; ++i) {
    builder.AddRow(PresentKey(static_cast<uint64_t>(i)) + std::string(200, 'x') + PathKey(i), "1");
  }
  EXPECT_NE(builder.Finish().status().message().find("max_index_bytes is 1000"), std::string::npos);
}

// The hashes of prefixes took 126 times max_build_bytes.
TEST(MisuseTest, PrefixesThatExceedTheMemoryOfAFilterAreLeftOut) {
  FilterBuilder builder = MakeBuilder({.prefixes = "lengths:8,16", .max_build_bytes = 200'000});
  for (int i = 0; i < 8000; ++i) builder.AddKey(std::to_string(1'000'000'007'000'000 + i));
  const FinishedFilter filter = Must(builder.Finish());
  EXPECT_FALSE(filter.has_prefixes);
  EXPECT_EQ(filter.no_ranges_reason, "too little memory for prefixes, max_build_bytes = 200000");
  EXPECT_TRUE(Filter::Open(filter.block.view()).MayContain("1000000007000000"));
}

}  // namespace
}  // namespace blocksieve::testing
