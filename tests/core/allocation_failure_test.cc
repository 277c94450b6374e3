#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "blocksieve/classic_bloom.h"
#include "blocksieve/counting_bloom.h"
#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/predicate.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/granule/granule_test_index.h"
#include "tests/support/failing_allocation.h"

// Every allocation fails once: whatever returns a Status or Result says ResourceExhausted, a filter
// that can be opened never says "no" to one of its keys, and what was interrupted can be used
// again. Nothing throws: that would fail the test.

namespace blocksieve::testing {
namespace {

void ExpectShortOfMemory(const Status& status) {
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status.message();
  EXPECT_NE(status.message(), "") << "a reason is logged";
}

struct BuilderCase {
  FilterKind kind;
  uint64_t num_keys;
  bool keep_hashes;
};

class FilterBuilderShortOfMemory : public ::testing::TestWithParam<BuilderCase> {};

INSTANTIATE_TEST_SUITE_P(Cases, FilterBuilderShortOfMemory,
                         ::testing::Values(BuilderCase{FilterKind::kBlockedBloom, 0, false},
                                           BuilderCase{FilterKind::kBlockedBloom, 5'000, false},
                                           BuilderCase{FilterKind::kBlockedBloom, 5'000, true},
                                           BuilderCase{FilterKind::kRibbon, 0, false},
                                           BuilderCase{FilterKind::kRibbon, 5'000, false},
                                           BuilderCase{FilterKind::kRibbon, 5'000, true},
                                           BuilderCase{FilterKind::kRibbon, 100'000, false}),
                         [](const auto& info) {
                           return std::string(FilterKindName(info.param.kind)) +
                                  std::to_string(info.param.num_keys) +
                                  (info.param.keep_hashes ? "KeepingHashes" : "");
                         });

TEST_P(FilterBuilderShortOfMemory, IsAnErrorAndTheBuilderStartsAnew) {
  FilterOptions options;
  options.kind = GetParam().kind;
  options.target_fpr = 0.001;
  options.keep_hashes = GetParam().keep_hashes;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < GetParam().num_keys; ++i) keys.push_back(PresentKey(i));
  FilterBuilder builder = MakeBuilder(options);
  const auto build = [&] {
    for (const std::string& key : keys) builder.AddKey(key);
    return builder.Finish();
  };
  const std::string expected = Copy(*build());
  const uint64_t failures =
      FailEachAllocation(build, [&](const Result<OwnedBytes>& block, bool failed) {
        if (!block.ok()) {
          ASSERT_TRUE(failed) << block.status().message();
          ExpectShortOfMemory(block.status());
          EXPECT_EQ(Copy(*build()), expected) << "after a failure";
          return;
        }
        if (!failed) {
          EXPECT_EQ(Copy(*block), expected);
        }
        const FilterReader reader = FilterReader::Open(block->view());
        for (const std::string& key : keys) ASSERT_TRUE(reader.MayMatch(key));
      });
  EXPECT_GT(failures, 1u);
}

TEST(ShortOfMemory, CreatingABuilder) {
  for (const FilterKind kind :
       {FilterKind::kBlockedBloom, FilterKind::kRibbon, FilterKind::kCountingBloom}) {
    for (const double target : {0.01, 7.0}) {
      FilterOptions options;
      options.kind = kind;
      options.target_fpr = target;
      FailEachAllocation([&] { return FilterBuilder::Create(options); },
                         [&](const Result<FilterBuilder>& builder, bool failed) {
                           if (builder.ok() || !failed) return;
                           ExpectShortOfMemory(builder.status());
                         });
    }
  }
}

TEST(ShortOfMemory, VerifyingWhatWasBuilt) {
  FilterOptions options;
  options.kind = FilterKind::kRibbon;
  options.keep_hashes = true;
  FilterBuilder builder = MakeBuilder(options);
  for (uint64_t i = 0; i < 1000; ++i) builder.AddKey(PresentKey(i));
  const std::string good = Copy(FinishOk(builder));
  std::string bad = good;
  bad[10] = static_cast<char>(bad[10] ^ 1);
  FailEachAllocation([&] { return builder.VerifyBuilt(AsBytes(good)); },
                     [](const Status& status, bool failed) { EXPECT_TRUE(status.ok() || failed); });
  FailEachAllocation([&] { return builder.VerifyBuilt(AsBytes(bad)); },
                     [](const Status& status, bool) { EXPECT_FALSE(status.ok()); });
}

std::vector<std::string> BlocksOfEveryKind() {
  ClassicBloom classic = *ClassicBloom::Create(*BloomLayout::ForKeys(100, 0.01));
  CountingBloom counting = *CountingBloom::Create(*BloomLayout::ForKeys(100, 0.01));
  for (uint64_t i = 0; i < 100; ++i) {
    classic.Add(PresentKey(i));
    counting.Add(PresentKey(i));
  }
  return {Copy(*classic.Serialize()), Copy(*counting.Serialize()),
          Copy(BuildBlock(FilterKind::kBlockedBloom, 0.01, 100)),
          Copy(BuildBlock(FilterKind::kRibbon, 0.01, 100))};
}

TEST(ShortOfMemory, OpeningFilters) {
  for (const std::string& block : BlocksOfEveryKind()) {
    // Damage takes memory, for the message that says what it is.
    for (size_t damaged = 0; damaged <= block.size(); ++damaged) {
      std::string bytes = block;
      if (damaged < block.size()) bytes[damaged] = static_cast<char>(bytes[damaged] ^ 0x10);
      const FilterReader::State expected = FilterReader::Open(AsBytes(bytes)).state();
      FailEachAllocation(
          [&] { return FilterReader::Open(AsBytes(bytes)); },
          [&](const FilterReader& reader, bool) {
            EXPECT_EQ(reader.state(), expected);
            EXPECT_TRUE(reader.MayMatch(PresentKey(0)) || expected == FilterReader::State::kReady);
          });
      const bool is_sound = VerifyFilterBlock(AsBytes(bytes)).ok();
      FailEachAllocation([&] { return DescribeFilterBlock(AsBytes(bytes)); },
                         [&](const Result<FilterInfo>& info, bool) {
                           EXPECT_EQ(info.ok(), expected != FilterReader::State::kUnreadable);
                         });
      FailEachAllocation([&] { return VerifyFilterBlock(AsBytes(bytes)); },
                         [&](const Status& status, bool) { EXPECT_EQ(status.ok(), is_sound); });
    }
  }
}

/// attempt() gives a Result that is ok if memory is.
template <class Attempt>
void ExpectResultOrShortOfMemory(Attempt attempt, uint64_t least_failures = 1) {
  const uint64_t failures = FailEachAllocation(attempt, [](const auto& result, bool failed) {
    if (!failed) {
      EXPECT_TRUE(result.ok()) << result.status().message();
    } else if (!result.ok()) {
      ExpectShortOfMemory(result.status());
    }
  });
  EXPECT_GE(failures, least_failures);
}

TEST(ShortOfMemory, ClassicAndCountingFilters) {
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
  // Messages that take memory of their own.
  const auto expect_refusal = [](const auto& result, bool) { EXPECT_FALSE(result.ok()); };
  FailEachAllocation([&] { return ClassicBloom::Deserialize(counting_block.view()); },
                     expect_refusal);
  FailEachAllocation([&] { return CountingBloom::Create(layout, 5); }, expect_refusal);
  FailEachAllocation([] { return BloomLayout::ForKeys(0, 0.01); }, expect_refusal);
  FailEachAllocation([] { return BloomLayout::ForBits(0, 4); }, expect_refusal);
  FailEachAllocation([] { return BloomLayout::ForBytes(0, 4); }, expect_refusal);
  FailEachAllocation([] { return ChooseLayout(FilterKind::kRibbon, 0.9); }, expect_refusal);
  FailEachAllocation([] { return LayoutForBitsPerKey(FilterKind::kBlockedBloom, 0.1); },
                     expect_refusal);
}

GranuleIndexOptions TwoColumns() {
  GranuleIndexOptions options =
      IndexOptions(3, {Column(ValueType::kBytes, 0.05), Column(ValueType::kFloat, 0.3)});
  for (GranuleColumnOptions& column : options.columns) {
    column.name = "a name that is too long to be kept inside of a string";
  }
  return options;
}

Result<std::string> BuildIndex(const GranuleIndexOptions& options) {
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(options);
  if (!builder.ok()) return builder.status();
  char text[] = "word 000 that is too long to be kept inside of a string";
  for (uint64_t row = 0; row < 200; ++row) {
    text[5] = static_cast<char>('0' + row / 100);
    text[6] = static_cast<char>('0' + row / 10 % 10);
    text[7] = static_cast<char>('0' + row % 10);
    builder->StartRow(text, 10);
    if (row == 30) builder->MarkAlwaysMatch();
    for (uint64_t i = 0; i < (row == 40 ? 30 : 1); ++i) {
      builder->AddValue(0, Value::Bytes(std::string_view(text).substr(i)));
    }
    builder->AddValue(1, Value::Float(static_cast<double>(row) / 3));
  }
  return builder->Finish();
}

TEST(ShortOfMemory, BuildingAnIndex) {
  const GranuleIndexOptions options = TwoColumns();
  ExpectResultOrShortOfMemory([&] { return BuildIndex(options); }, 50);
}

TEST(ShortOfMemory, OpeningAnIndex) {
  const std::string bytes = *BuildIndex(TwoColumns());
  ExpectResultOrShortOfMemory([&] { return GranuleIndex::Open(AsBytes(bytes)); }, 3);
}

// Asking has no status to return, so that it throws as the standard library does; what it has ruled
// out until then is certain.
TEST(ShortOfMemory, AskingAnIndex) {
  const TestIndex index(*BuildIndex(TwoColumns()));
  const Value text = Value::Bytes("word 017 that is too long to be kept inside of a string");
  const Value values[] = {Value::Bytes("a"), text};
  GranuleSet set = index.All();
  const ColumnIndex& column = index->column_index(0);
  FailEachAllocation(
      [&] {
        try {
          column.KeepContaining(text.Hash(), &set);
          column.KeepContainingAny(values, &set);
          column.KeepOverlapping({text, text}, &set);
          column.KeepDiffering(Value::Bytes("x"), &set);
          column.KeepPresent(&set);
        } catch (const std::bad_alloc&) {
          return false;
        }
        return true;
      },
      [&](bool done, bool failed) {
        EXPECT_TRUE(done || failed);
        EXPECT_TRUE(set.Has(17 / 3)) << "has the row";
        if (done) {
          EXPECT_LT(set.Count(), set.num_granules());
        }
      });
}

TEST(ShortOfMemory, ParsingColumnsAndPredicates) {
  for (const std::string_view text :
       {"a_long_name_of_a_column=field[,]:4", "another_name_of_a_column=ngrams(4):json:/a/b/c"}) {
    ExpectResultOrShortOfMemory([&] { return blocksieve::Column::Parse(text); });
  }
  std::vector<blocksieve::Column> columns;
  for (const char* definition : {"p=field:1", "n=int:2", "w=words:1", "g=ngrams(3):1"}) {
    columns.push_back(*blocksieve::Column::Parse(definition));
  }
  const std::string_view text =
      "(p LIKE '%some_longer_path_than_fits%' OR w HAS 'nothing') AND n BETWEEN -20 AND 1.5 AND "
      "NOT (g HAS 'absent' OR p IS NULL) AND n IN (1, 2, 3) AND p != 'some/longer/path/than/fits'";
  ExpectResultOrShortOfMemory([&] { return Predicate::Parse(text, columns); }, 50);
  FailEachAllocation(
      [&] { return Predicate::Parse("p = = 'an error that has a message'", columns); },
      [](const auto& result, bool) { EXPECT_FALSE(result.ok()); });

  const Value value = Value::Bytes("a text that is too long to be kept inside of a string");
  const Predicate predicate = *Predicate::Parse(text, columns);
  const std::vector<Predicate> operands = {predicate, *Predicate::Equals(columns[0], value)};
  ExpectResultOrShortOfMemory([&] { return Predicate::Equals(columns[0], value); });
  ExpectResultOrShortOfMemory([&] { return Predicate::Between(columns[0], value, value); });
  ExpectResultOrShortOfMemory([&] { return Predicate::Like(columns[0], "%a%pattern%"); });
  ExpectResultOrShortOfMemory([&] { return Predicate::And(operands); });
  ExpectResultOrShortOfMemory([&] { return Predicate::Not(predicate); });
}

}  // namespace
}  // namespace blocksieve::testing
