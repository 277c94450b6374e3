// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/skip_index.h"
#include "lib/range/range_filter.h"
#include "tests/core/column/test_columns.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"
#include "tests/support/failing_allocation.h"

// Every allocation fails once. Functions that return a Status or Result return ResourceExhausted; a
// filter that opens never answers "no" to one of its keys; interrupted objects can be used again.
// Nothing throws, which would fail the test. Indexes are built and queried without memory by the
// tests of the plug-in.

namespace blocksieve::testing {
namespace {

void ExpectShortOfMemory(const Status& status) {
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  EXPECT_NE(status.message(), "") << "a reason is logged";
}

void ExpectBuilderToStartAnew(const FilterOptions& options, uint64_t num_keys) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < num_keys; ++i) keys.push_back(PresentKey(i));
  FilterBuilder builder = MakeBuilder(options);
  const auto build = [&] {
    for (const std::string& key : keys) builder.AddKey(key);
    return builder.Finish();
  };
  const std::string expected = Copy(build()->block);
  const uint64_t failures =
      FailEachAllocation(build, [&](const Result<FinishedFilter>& filter, bool failed) {
        if (!filter.ok()) {
          ASSERT_TRUE(failed) << filter.status().message();
          ExpectShortOfMemory(filter.status());
          EXPECT_EQ(Copy(build()->block), expected) << "after a failure";
          return;
        }
        if (!failed) {
          EXPECT_EQ(Copy(filter->block), expected);
        }
        const Filter reader = Filter::Open(filter->block.view());
        for (const std::string& key : keys) ASSERT_TRUE(reader.MayContain(key));
      });
  EXPECT_GT(failures, 1u);
}

TEST(AllocationFailureTest, BuildingAFilter) {
  for (const FilterKind kind : AllFilterKinds()) {
    for (const auto& [num_keys, keep_hashes] :
         {std::pair(0, false), {5'000, false}, {5'000, true}, {100'000, false}}) {
      SCOPED_TRACE(::testing::Message()
                   << num_keys << " keys, kind " << FilterKindName(kind) << ", " << keep_hashes);
      ExpectBuilderToStartAnew({.kind = kind, .target_fpr = 0.001, .keep_hashes = keep_hashes},
                               static_cast<uint64_t>(num_keys));
    }
  }
}

// Clusters, some of which are nodes, and keys too long for a string without an allocation.
std::vector<std::string> KeysOfTenants() {
  std::vector<std::string> keys;
  for (const auto& [tenant, count] :
       {std::pair("a/tenant/with/a/name/", 40u), {"b/tenant/", 900u}}) {
    for (unsigned i = 0; i < count; ++i) keys.push_back(tenant + KeyNumber(i * i));
  }
  return keys;
}

TEST(AllocationFailureTest, BuildingARangeFilter) {
  const std::vector<std::string> keys = KeysOfTenants();
  RangeFilterBuilder builder = Must(RangeFilterBuilder::Create({}));
  const auto build = [&] {
    for (const std::string& key : keys) builder.AddKey(key);
    return builder.Finish();
  };
  const std::string expected = build();
  ASSERT_EQ(builder.absent_reason(), "");
  const uint64_t failures = FailEachAllocation(build, [&](const std::string& section, bool failed) {
    if (section.empty()) {
      EXPECT_TRUE(failed);
      EXPECT_EQ(builder.absent_reason(), "out of memory");
    } else {
      EXPECT_EQ(section, expected);
    }
    EXPECT_EQ(build(), expected) << "after a failure";
  });
  EXPECT_GT(failures, 50u);
}

// Reporting damage allocates its message.
TEST(AllocationFailureTest, OpeningFilters) {
  std::vector<WrittenBlockPtr> blocks = WrittenFilters();
  std::erase_if(blocks, [](const auto& block) {
    return !block->name.ends_with("_3_keys") && block->name != "range_6_keys";
  });
  for (const WrittenBlockPtr& block : blocks) {
    const std::string whole = block->Bytes();
    for (size_t damaged = 0; damaged <= whole.size(); ++damaged) {
      std::string changed = whole;
      if (damaged < whole.size()) changed[damaged] = static_cast<char>(changed[damaged] ^ 0x10);
      const ByteView bytes = AsBytes(changed);
      const auto expect = [](auto probe) {
        const auto expected = probe();
        FailEachAllocation(probe, [&](const auto& said, bool) { EXPECT_EQ(said, expected); });
      };
      expect([&] { return Filter::Open(bytes).state(); });
      expect([&] { return RangeFilterReader::Open(bytes).is_ready(); });
      expect([&] { return DescribeFilter(bytes).ok(); });
      expect([&] { return Filter::Verify(bytes).ok(); });
    }
  }
}

/// attempt() returns a Result that is ok unless an allocation fails.
template <class Attempt>
void ExpectResultOrShortOfMemory(Attempt attempt, uint64_t min_failures = 1) {
  const uint64_t failures = FailEachAllocation(attempt, [](const auto& result, bool failed) {
    if (!failed) {
      EXPECT_TRUE(result.ok()) << result.status().message();
    } else if (!result.ok()) {
      ExpectShortOfMemory(result.status());
    }
  });
  EXPECT_GE(failures, min_failures);
}

/// attempt() returns an error whose message allocates.
template <class Attempt>
void ExpectRefusal(Attempt attempt) {
  FailEachAllocation(attempt, [](const auto& result, bool) { EXPECT_FALSE(result.ok()); });
}

TEST(AllocationFailureTest, ClassicAndCountingFilters) {
  const BloomLayout layout = *BloomLayout::ForKeys(1000, 0.01);
  CountingBloom counting = *CountingBloom::Create(layout);
  for (uint64_t i = 0; i < 1000; ++i) counting.Add(PresentKey(i));
  const ClassicBloom classic = *counting.Project();
  const OwnedBytes classic_block = *classic.Serialize();
  const OwnedBytes counting_block = *counting.Serialize();

  ExpectResultOrShortOfMemory([&] { return ClassicBloom::Create(layout); });
  ExpectResultOrShortOfMemory([&] { return CountingBloom::Create(layout); });
  ExpectResultOrShortOfMemory([&] { return counting.Project(); });
  ExpectResultOrShortOfMemory([&] { return classic.Serialize(); });
  ExpectResultOrShortOfMemory([&] { return counting.Serialize(); });
  ExpectResultOrShortOfMemory([&] { return ClassicBloom::Deserialize(classic_block.view()); });
  ExpectResultOrShortOfMemory([&] { return CountingBloom::Deserialize(counting_block.view()); });
  ExpectRefusal([&] { return ClassicBloom::Deserialize(counting_block.view()); });
  ExpectRefusal([&] { return CountingBloom::Create(layout, 5); });
}

TEST(AllocationFailureTest, OpeningAnIndex) {
  for (const WrittenBlockPtr& index : WrittenIndexes()) {
    const std::string bytes = index->Bytes();
    ExpectResultOrShortOfMemory([&] { return SkipIndex::Open(AsBytes(bytes)); }, 3);
  }
}

TEST(AllocationFailureTest, ParsingColumnsAndPredicates) {
  for (const std::string_view text :
       {"a_long_name_of_a_column=field[,]:4", "another_name_of_a_column=ngrams(4):json:/a/b/c"}) {
    ExpectResultOrShortOfMemory([&] { return Column::Parse(text); });
  }
  const std::vector<Column> columns =
      MakeColumns({"p=folded:1", "n=int:2", "w=words:1", "g=ngrams(3):1"});
  const std::string_view text =
      "(p LIKE '%some_longer_path_than_fits%' OR w HAS 'nothing') AND n BETWEEN -20 AND 1.5 AND "
      "NOT (g HAS 'absent' OR p IS NULL) AND n IN (1, 2, 3) AND p != 'some/longer/path/than/fits'";
  ExpectResultOrShortOfMemory([&] { return Predicate::Parse(text, columns); }, 50);
  ExpectRefusal([&] { return Predicate::Parse("p = = 'an error that has a message'", columns); });

  const Value value = Value::Bytes("a text that is too long to be kept inside of a string");
  const Predicate predicate = *Predicate::Parse(text, columns);
  const std::vector<Predicate> operands = {
      predicate, *Predicate::Compare(columns[0], Comparison::kEqual, value)};
  ExpectResultOrShortOfMemory(
      [&] { return Predicate::Compare(columns[0], Comparison::kEqual, value); });
  const std::vector<Value> range = {value, value};
  ExpectResultOrShortOfMemory(
      [&] { return Predicate::Compare(columns[0], Comparison::kBetween, range); });
  const Value pattern = Value::Bytes("%a%pattern%");
  ExpectResultOrShortOfMemory(
      [&] { return Predicate::Compare(columns[0], Comparison::kLike, pattern); });
  ExpectResultOrShortOfMemory([&] { return Predicate::And(operands); });
  ExpectResultOrShortOfMemory([&] { return Predicate::Not(predicate); });
}

// Scans evaluate every row, so columns and predicates must not allocate for one.

const std::string kRow = "some/longer/path/than/fits/a/string\t-12\t1.5\t1,2,3\t\xc3\xa9\xc3\xa9";

template <class Action>
void ExpectNoAllocation(Action action) {
  EXPECT_EQ(FailEachAllocation(action, [](bool, bool) {}), 0u);
}

TEST(AllocationFailureTest, ColumnsAreExtracted) {
  for (const std::string_view definition :
       {"c=field:1", "c=value", "c=fixed(3,20)", "c=int:2", "c=float:3", "c=int:field[,]:4",
        "c=words:1", "c=ngrams(4):1", "c=int64le(0)", "c=uint:9"}) {
    SCOPED_TRACE(definition);
    const Column column = MakeColumn(definition);
    ExpectNoAllocation(
        [&] { return internal::ForEachIndexed(column, kRow, [](const Value&) { return true; }); });
  }
}

TEST(AllocationFailureTest, RangesAreQueried) {
  const std::vector<std::string> keys = KeysOfTenants();
  const Filter filter = Must(Filter::Build(keys, {.ranges = true}));
  ExpectNoAllocation([&] {
    const RangeFilterReader reader = RangeFilterReader::Open(filter.bytes());
    bool all = true;
    for (size_t i = 1; i < keys.size(); ++i) {
      all &= reader.Query(keys[i - 1], keys[i]) == RangeAnswer::kMayMatch;
    }
    return all && reader.Query("c", "d") == RangeAnswer::kNo;
  });
}

TEST(AllocationFailureTest, PredicatesMatch) {
  const std::vector<Column> columns =
      MakeColumns({"p=field:1", "n=int:2", "a=int:field[,]:4", "w=words:1", "g=ngrams(3):1"});
  const Predicate predicate = MakePredicate(
      "(p LIKE '%longer_path%' OR w HAS 'nothing') AND n BETWEEN -20 AND 1.5 AND a IN (3, 7) AND "
      "NOT (g HAS 'absent' OR p IS NULL) AND w != 'x' AND p STARTSWITH 'some'",
      columns);
  EXPECT_TRUE(predicate.Matches(kRow));
  for (const std::string_view row : {std::string_view(kRow), std::string_view("some")}) {
    ExpectNoAllocation([&] { return predicate.Matches(row); });
  }
}

}  // namespace
}  // namespace blocksieve::testing
