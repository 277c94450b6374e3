#include <gtest/gtest.h>

#include <random>

#include "lib/column/definition.h"
#include "lib/column/values.h"
#include "tests/core/predicate/predicate_reference.h"
#include "tests/core/skip/test_index.h"

// Random conditions over random rows, against a second, naive implementation.

namespace blocksieve::testing {
namespace {

using Granules = std::vector<std::vector<std::string>>;

TestIndex IndexGranules(const std::vector<Column>& columns, const Granules& granules,
                        double target_fpr) {
  SkipIndexBuilder builder = MakeIndexBuilder(IndexOptions(0, columns, target_fpr));
  for (const auto& rows : granules) {
    for (const std::string& row : rows) builder.AddRow("key", row);
    builder.CloseGranule();
  }
  return FinishIndex(&builder);
}

TEST(PruningPropertyTest, MatchesAsTheReferenceAndNeverDropsAMatch) {
  std::vector<Column> columns;
  for (const Reference::ColumnFacts& facts : Reference::Columns()) {
    columns.push_back(MakeColumn(facts.definition));
  }
  // Some files lack some indexes.
  std::vector<Column> half;
  for (size_t i = 0; i < columns.size(); i += 2) half.push_back(columns[i]);

  size_t evaluations = 0;
  size_t matches = 0;
  size_t granules_without_match = 0;
  size_t granules_dropped = 0;
  size_t granules_full = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Reference reference(seed);
    Granules granules;
    for (size_t g = 0; g < 70; ++g) {
      granules.emplace_back();
      // Rows in a granule are often equal, or no negation could prune.
      const std::string row = reference.RandomRow();
      for (size_t i = 0; i <= (seed + g) % 3; ++i) {
        granules.back().push_back(g % 2 == 0 ? row : reference.RandomRow());
      }
    }
    const TestIndex precise = IndexGranules(columns, granules, 1e-7);
    const TestIndex partial = IndexGranules(half, granules, 1e-7);
    const TestIndex imprecise = IndexGranules(columns, granules, 0.3);

    for (int i = 0; i < 100; ++i) {
      const Reference::Condition condition = reference.RandomCondition(i % 4);
      const std::string text = condition.Text();
      const Predicate predicate = MakePredicate(text, columns);
      ASSERT_EQ(MakePredicate(predicate.ToText(), columns).ToText(), predicate.ToText());
      const Predicate reparsed = MakePredicate(predicate.ToText(), columns);

      const GranuleSet from_precise = precise->Candidates(predicate);
      const GranuleSet from_partial = partial->Candidates(predicate);
      const GranuleSet from_imprecise = imprecise->Candidates(predicate);
      const GranuleSet fully = precise->FullyMatching(predicate);
      for (size_t g = 0; g < granules.size(); ++g) {
        bool has_match = false;
        bool has_other = false;
        for (const std::string& row : granules[g]) {
          const bool is_match = condition.Ask(row) == Reference::Answer::kYes;
          ASSERT_EQ(predicate.Matches(row), is_match) << text << " on " << row;
          ASSERT_EQ(reparsed.Matches(row), is_match) << predicate.ToText() << " on " << row;
          has_match = has_match || is_match;
          has_other = has_other || !is_match;
          ++evaluations;
          matches += is_match ? 1u : 0u;
        }
        ASSERT_FALSE(has_other && fully.Has(g)) << text << " does not match all of granule " << g;
        granules_full += fully.Has(g) ? 1u : 0u;
        if (has_match) {
          ASSERT_TRUE(from_precise.Has(g)) << text << " lost granule " << g;
          ASSERT_TRUE(from_partial.Has(g)) << text << " lost granule " << g;
          ASSERT_TRUE(from_imprecise.Has(g)) << text << " lost granule " << g;
        } else {
          ++granules_without_match;
          granules_dropped += from_precise.Has(g) ? 0u : 1u;
        }
      }
    }
  }
  EXPECT_GE(evaluations, 500'000u);
  // Otherwise the test would be weak.
  EXPECT_GT(matches, evaluations / 10);
  EXPECT_LT(matches, evaluations * 9 / 10);
  EXPECT_GT(granules_dropped, granules_without_match / 3);
  EXPECT_GT(granules_full, 1'000u);
}

TEST(PruningPropertyTest, TokensOfAnyBytesNeverDropAMatch) {
  const std::vector<Column> columns =
      MakeColumns({"w=words:value", "g=ngrams(1):value", "h=ngrams(2):value", "i=ngrams(3):value"});
  // Beginnings, middles and ends of characters, in random order.
  const std::string_view alphabet = "a.\xc3\xa9\xe6\x97\xa5\xf0\xff\x80";
  std::mt19937_64 random(3);
  const auto random_bytes = [&](size_t most) {
    std::string bytes;
    for (size_t i = random() % (most + 1); i > 0; --i) {
      bytes.push_back(alphabet[random() % alphabet.size()]);
    }
    return bytes;
  };
  size_t matches = 0;
  size_t skipped = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string row = random_bytes(12);
    const TestIndex index = IndexGranules(columns, {{row}}, 1e-7);
    for (int i = 0; i < 20; ++i) {
      // Pieces of the row, for frequent matches.
      const size_t begin = random() % (row.size() + 1);
      const size_t size = random() % (row.size() + 1 - begin);
      const std::string piece = random() % 4 == 0 ? random_bytes(3) : row.substr(begin, size);
      const Column& column = columns[random() % columns.size()];
      const Result<Predicate> predicate = [&] {
        switch (random() % 5) {
          case 0:
            return Predicate::Compare(column, Comparison::kLike, Value::Bytes("%" + piece + "%"));
          case 1:
            return Predicate::Compare(column, Comparison::kLike,
                                      Value::Bytes(row.substr(0, begin) + "_%" + piece));
          case 2:
            return Predicate::Compare(column, Comparison::kLike,
                                      Value::Bytes("%_" + piece + "_%" + random_bytes(1)));
          case 3:
            return Predicate::Compare(column, Comparison::kStartsWith,
                                      Value::Bytes(row.substr(0, begin)));
          default:
            return column.definition().tokeniser == Tokeniser::kNgrams
                       ? Predicate::Compare(column, Comparison::kHas, Value::Bytes(piece))
                       : Predicate::Compare(column, Comparison::kEqual, Value::Bytes(row));
        }
      }();
      ASSERT_TRUE(predicate.ok());
      const bool is_match = predicate->Matches(row);
      const bool is_candidate = index->Candidates(*predicate).Has(0);
      ASSERT_TRUE(is_candidate || !is_match) << predicate->ToText() << " lost " << row;
      matches += is_match ? 1u : 0u;
      skipped += is_candidate ? 0u : 1u;
    }
  }
  EXPECT_GT(matches, 10'000u);
  EXPECT_GT(skipped, 1'000u);
}

}  // namespace
}  // namespace blocksieve::testing
