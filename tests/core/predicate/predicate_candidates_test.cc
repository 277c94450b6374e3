#include <gtest/gtest.h>

#include "tests/core/column/test_columns.h"
#include "tests/core/granule/granule_test_index.h"
#include "tests/core/predicate/test_column_index.h"

// Which granules a predicate leaves, and what it asks indexes for that.

namespace blocksieve {
namespace {

using testing::FileIndex;
using testing::MakeColumn;
using testing::MakeColumns;
using testing::MakePredicate;

using Granules = std::vector<std::vector<std::string>>;
using Numbers = std::vector<size_t>;

class PredicateCandidates : public ::testing::Test {
 protected:
  Numbers Candidates(std::string_view text) {
    const Predicate predicate = MakePredicate(text, columns_);
    const GranuleSet set = predicate.Candidates(granules_.size(), index_.lookup());
    EXPECT_EQ(set.num_granules(), granules_.size());
    return testing::Members(set);
  }

  const std::vector<Column> columns_ = MakeColumns(
      {"s=field:1", "n=int:2", "a=int:field[,]:3", "w=words:4", "g=ngrams(3):4", "x=field:1"});
  const Granules granules_{
      {"bash\t1\t1,2\tabc,def", "bash\t1\t2\tzzz"},
      {"dash\t5\t3\tabcdef", "libc\t-5\t3,4\tyyy"},
      {"zsh\tnone"},
      {"zsh\t9\t\t--", "bash\t9\t9\tbc"},
  };
  const Numbers all_{0, 1, 2, 3};
  // x has no index.
  const FileIndex<> index_{std::vector(columns_.begin(), columns_.end() - 1), granules_};
};

TEST_F(PredicateCandidates, ComparisonsSkip) {
  EXPECT_EQ(Candidates("s = 'bash'"), (Numbers{0, 3}));
  EXPECT_EQ(Candidates("s = 'none'"), Numbers{});
  EXPECT_EQ(Candidates("s IN ('dash', 'zsh')"), (Numbers{1, 2, 3}));
  EXPECT_EQ(Candidates("s HAS 'dash'"), Numbers{1});
  EXPECT_EQ(Candidates("s < 'c'"), (Numbers{0, 3}));
  EXPECT_EQ(Candidates("s STARTSWITH 'li'"), Numbers{1});
  EXPECT_EQ(Candidates("s LIKE 'li%c'"), Numbers{1});
  EXPECT_EQ(Candidates("s LIKE 'ba_h'"), (Numbers{0, 3}));
  EXPECT_EQ(Candidates("s LIKE 'zsh'"), (Numbers{2, 3}));
  EXPECT_EQ(Candidates("n > 4.5"), (Numbers{1, 3}));
  EXPECT_EQ(Candidates("n BETWEEN 2 AND 8"), Numbers{1});
  EXPECT_EQ(Candidates("n IS NULL"), Numbers{2});
  EXPECT_EQ(Candidates("n IS NOT NULL"), (Numbers{0, 1, 3}));
  EXPECT_EQ(Candidates("a HAS 3"), Numbers{1});
  EXPECT_EQ(Candidates("w HAS 'abc'"), Numbers{0});
  EXPECT_EQ(Candidates("w HAS 'ABC'"), Numbers{});
  EXPECT_EQ(Candidates("w LIKE 'abc,%'"), Numbers{0});
  EXPECT_EQ(Candidates("w = 'abc,def'"), Numbers{0});
  EXPECT_EQ(Candidates("w IN ('zzz', 'yyy')"), (Numbers{0, 1}));
  EXPECT_EQ(Candidates("g LIKE '%cdef%'"), Numbers{1});
  EXPECT_EQ(Candidates("g HAS 'c,d'"), Numbers{0});
  EXPECT_EQ(Candidates("g = 'yyy'"), Numbers{1});
}

TEST_F(PredicateCandidates, NegationsSkipWhereAllRowsAreAlike) {
  EXPECT_EQ(Candidates("s != 'bash'"), (Numbers{1, 2, 3}));
  EXPECT_EQ(Candidates("s != 'zsh'"), (Numbers{0, 1, 3}));
  EXPECT_EQ(Candidates("s NOT LIKE 'zsh'"), (Numbers{0, 1, 3}));
  EXPECT_EQ(Candidates("s NOT IN ('zsh', 'bash')"), (Numbers{1, 3}));
  EXPECT_EQ(Candidates("NOT s < 'c'"), (Numbers{1, 2, 3}));
  EXPECT_EQ(Candidates("n NOT BETWEEN 0 AND 6"), (Numbers{1, 3}));
  EXPECT_EQ(Candidates("s NOT STARTSWITH 'ba'"), (Numbers{1, 2, 3}));
  EXPECT_EQ(Candidates("NOT (s = 'bash' OR n > 0)"), Numbers{1});
  EXPECT_EQ(index_.filter_calls(), 0u) << "filters say nothing of what differs";
}

TEST_F(PredicateCandidates, CombinationsSkip) {
  EXPECT_EQ(Candidates("s = 'bash' AND n = 9"), Numbers{3});
  EXPECT_EQ(Candidates("s = 'dash' OR n = 9"), (Numbers{1, 3}));
  EXPECT_EQ(Candidates("s = 'bash' AND (w HAS 'abc' OR n IS NULL)"), Numbers{0});
  EXPECT_EQ(Candidates("NOT (s != 'bash' OR n != 9)"), Numbers{3});
  EXPECT_EQ(Candidates("NOT (NOT (s = 'dash') AND NOT (n = 9))"), (Numbers{1, 3}));
  EXPECT_EQ(Candidates("x = 'q' AND s = 'dash'"), Numbers{1}) << "x is open, s decides";
  EXPECT_EQ(Candidates("s LIKE '%q' AND n = 9"), Numbers{3});
  EXPECT_EQ(Candidates("TRUE"), all_);
  EXPECT_EQ(Candidates("FALSE"), Numbers{});
  EXPECT_EQ(Candidates("NOT FALSE"), all_);
  EXPECT_EQ(Candidates("NOT TRUE"), Numbers{});
  EXPECT_EQ(Candidates("FALSE OR s = 'dash'"), Numbers{1});
  EXPECT_EQ(Candidates("TRUE AND s = 'dash'"), Numbers{1});
}

TEST_F(PredicateCandidates, WhatIsTrueOfNoRowNeedsNoIndex) {
  EXPECT_EQ(Candidates("n = 1.5"), Numbers{});
  EXPECT_EQ(Candidates("n IN (1.5, 1e99)"), Numbers{});
  EXPECT_EQ(Candidates("n BETWEEN 5 AND 4"), Numbers{});
  EXPECT_EQ(Candidates("n < -1e99"), Numbers{});
  EXPECT_EQ(Candidates("x < 'a' AND x BETWEEN 'b' AND 'a'"), Numbers{});
  EXPECT_EQ(Candidates("s = 'bash' AND FALSE AND n = 1"), Numbers{});
  EXPECT_EQ(index_.calls(), 2u) << "of the last, what stands before FALSE";
}

TEST_F(PredicateCandidates, WhatCannotSkipAsksNoIndex) {
  for (const std::string_view text :
       {"x = 'bash'", "x IN ('a', 'b')", "x < 'a'", "x IS NULL", "s LIKE '%ash'", "s LIKE '_ash%'",
        "s NOT LIKE 'b%h'", "s NOT LIKE '%'  OR TRUE", "w LIKE '%abc%'", "w LIKE 'abc%'", "w < 'b'",
        "w BETWEEN 'a' AND 'b'", "w != 'abc,def'", "w NOT IN ('a', 'b')", "w NOT HAS 'abc'",
        "w NOT LIKE '% abc %'", "w IS NOT NULL", "w = '--'", "w IN ('abc', '-')", "g LIKE '%ab%'",
        "g HAS 'ab'", "g STARTSWITH 'ab'", "g NOT HAS 'abc'", "g != 'abc'", "n != 1.5", "TRUE",
        "NOT FALSE",
        // One side of an OR that cannot skip makes the other useless.
        "s = 'bash' OR x = 'bash'", "s = 'bash' OR (n = 1 OR g HAS 'ab')",
        "NOT (s = 'bash' AND g HAS 'abc')", "(s = 'a' AND n = 1) OR x = 'a'"}) {
    const Predicate predicate = MakePredicate(text, columns_);
    EXPECT_FALSE(predicate.CanSkip(index_.lookup())) << text;
    EXPECT_EQ(Candidates(text), all_) << text;
    EXPECT_EQ(index_.calls(), 0u) << text;
  }
  EXPECT_EQ(Candidates("s = 'dash' AND g HAS 'ab' AND (n = 1 OR x = 'a')"), Numbers{1});
  EXPECT_EQ(index_.calls(), 2u) << "the filter and bounds of s only";
}

TEST_F(PredicateCandidates, ManyValuesUnderNotDoNotSkip) {
  std::string list = "1";
  for (int i = 2; i <= 33; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(Candidates("n NOT IN (" + list + ")"), all_);
  EXPECT_EQ(index_.calls(), 0u);
  EXPECT_EQ(Candidates("n IN (" + list + ")"), (Numbers{0, 1, 3}));
}

TEST_F(PredicateCandidates, NothingIsAskedOnceNoGranuleIsLeft) {
  EXPECT_EQ(Candidates("s = 'none' AND n = 1 AND a = 1"), Numbers{});
  EXPECT_EQ(index_.calls(), 1u);
}

TEST_F(PredicateCandidates, AnIndexOfAnotherDefinitionDoesNotServe) {
  // s was dropped, and added again for another field.
  const std::vector<Column> changed = MakeColumns({"s=field:2"});
  const Predicate predicate = MakePredicate("s = '1'", changed);
  EXPECT_FALSE(predicate.CanSkip(index_.lookup()));
  EXPECT_EQ(predicate.Candidates(4, index_.lookup()).Count(), 4u);
}

TEST_F(PredicateCandidates, NoGranulesAreNoProblem) {
  for (const std::string_view text : {"s = 'x'", "TRUE", "FALSE", "s = 'x' OR n = 1", "x = ''"}) {
    const FileIndex<> empty(columns_, {});
    EXPECT_TRUE(MakePredicate(text, columns_).Candidates(0, empty.lookup()).IsEmpty());
  }
}

TEST_F(PredicateCandidates, ExplainsEveryComparison) {
  struct Expected {
    std::string comparison;
    bool can_skip;
    bool is_used;
    std::string reason;
  };
  const auto check = [&](std::string_view text, const std::vector<Expected>& expected) {
    const auto explanations = MakePredicate(text, columns_).Explain(index_.lookup());
    ASSERT_EQ(explanations.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(explanations[i].comparison, expected[i].comparison);
      EXPECT_EQ(explanations[i].can_skip, expected[i].can_skip) << expected[i].comparison;
      EXPECT_EQ(explanations[i].is_used, expected[i].is_used) << expected[i].comparison;
      EXPECT_NE(explanations[i].reason.find(expected[i].reason), std::string::npos)
          << explanations[i].comparison << ": " << explanations[i].reason;
    }
  };
  check("s = 'a' AND n != 1 AND x = 'a' AND g LIKE '%ab%' AND TRUE",
        {{"s = 'a'", true, true, "filter and min/max, 1 value"},
         {"n != 1", true, true, "only granules that hold a single value"},
         {"x = 'a'", false, false, "column 'x' has no index"},
         {"g LIKE '%ab%'", false, false, "fewer than 3 characters in a row"},
         {"TRUE", false, false, "every row matches"}});
  check("NOT (s = 'a' AND w HAS 'a')",
        {{"s != 'a'", true, false, "an alternative to it cannot skip"},
         {"w NOT HAS 'a'", false, false, "cannot tell which texts lack"}});
  check("n BETWEEN 1 AND 2 OR NOT n > 5",
        {{"n BETWEEN 1 AND 2", true, true, "min/max"}, {"NOT n > 5", true, true, "min/max"}});
  check("w LIKE '% a b %' AND g HAS 'abcd' AND w LIKE '%a%' AND s LIKE '%a' AND w > 'a'",
        {{"w LIKE '% a b %'", true, true, "filter, 2 words"},
         {"g HAS 'abcd'", true, true, "filter, 2 n-grams"},
         {"w LIKE '%a%'", false, false, "no complete word"},
         {"s LIKE '%a'", false, false, "begins with a wildcard"},
         {"w > 'a'", false, false, "order of texts"}});
  EXPECT_EQ(index_.calls(), 0u);
  EXPECT_EQ(MakePredicate("n = 1", columns_).Explain(index_.lookup())[0].column, "n");
}

// The black-box cases of ClickHouse's own tests that concern columns and predicates.

TEST(ClickHouseCases, NumbersInShortGranules) {
  const std::vector<Column> columns = MakeColumns({"i=int:1", "s=field:1"});
  Granules granules;
  for (int key = 0; key < 100; ++key) {
    if (key % 6 == 0) granules.emplace_back();
    granules.back().push_back(std::to_string(key));
  }
  ASSERT_EQ(granules.back().size(), 4u);
  const FileIndex<> index(columns, granules);
  const auto rows = [&](std::string_view text) {
    const Predicate predicate = MakePredicate(text, columns);
    const GranuleSet candidates = predicate.Candidates(granules.size(), index.lookup());
    std::pair<size_t, size_t> read_and_matched;
    for (size_t g = 0; g < granules.size(); ++g) {
      for (const std::string& row : granules[g]) {
        read_and_matched.first += candidates.Has(g) ? 1u : 0u;
        read_and_matched.second += predicate.Matches(row) ? 1u : 0u;
      }
    }
    return read_and_matched;
  };
  EXPECT_EQ(rows("i = 1"), std::pair(size_t{6}, size_t{1}));
  EXPECT_EQ(rows("i IN (1, 2)"), std::pair(size_t{6}, size_t{2}));
  EXPECT_EQ(rows("i = 1 AND i = 99"), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(rows("i = 1 AND i = 2"), std::pair(size_t{6}, size_t{0}));
  EXPECT_EQ(rows("s = '1'"), std::pair(size_t{6}, size_t{1}));
  EXPECT_EQ(rows("s = '98'"), std::pair(size_t{4}, size_t{1})) << "the short tail";
  EXPECT_EQ(rows("(i = 1 OR i = 9999)"), std::pair(size_t{6}, size_t{1}));
  EXPECT_EQ(rows("NOT (NOT (i = 1) AND i != 9999)"), std::pair(size_t{6}, size_t{1}));
}

TEST(ClickHouseCases, Arrays) {
  const std::vector<Column> columns = MakeColumns({"a=int:value[,]"});
  Granules granules;
  for (const int first : {0, 5, 10}) {
    std::string row;
    for (int i = first; i < first + 15; ++i) row += (row.empty() ? "" : ",") + std::to_string(i);
    granules.push_back({row});
  }
  const FileIndex<> index(columns, granules);
  for (const auto& [value, count] : {std::pair(1, 1u), {5, 2u}, {10, 3u}}) {
    const Predicate predicate = MakePredicate("a HAS " + std::to_string(value), columns);
    EXPECT_EQ(predicate.Candidates(3, index.lookup()).Count(), count);
    size_t matches = 0;
    for (const auto& rows : granules) matches += predicate.Matches(rows[0]) ? 1u : 0u;
    EXPECT_EQ(matches, count);
  }
}

TEST(ClickHouseCases, Tokens) {
  const std::vector<Column> columns = MakeColumns({"w=words:1"});
  Granules granules(1024 / 8, std::vector<std::string>(8, "yyy,uuu"));
  granules.push_back(std::vector<std::string>(8, "abc,def,zzz"));
  granules.insert(granules.end(), 1024 / 8, std::vector<std::string>(8, "yyy,uuu"));
  granules.insert(granules.end(), 1024 / 8, std::vector<std::string>(8, "abcdefzzz"));
  const FileIndex<> index(columns, granules);
  const auto candidates = [&](std::string_view text) {
    return MakePredicate(text, columns).Candidates(granules.size(), index.lookup()).Count();
  };
  EXPECT_EQ(candidates("w HAS 'abc'"), 1u);
  EXPECT_EQ(candidates("w HAS 'def'"), 1u);
  EXPECT_EQ(candidates("w HAS 'zzz'"), 1u);
  EXPECT_EQ(candidates("w HAS 'ABC'"), 0u);
  EXPECT_EQ(candidates("w HAS 'yyy'"), 256u);
  EXPECT_EQ(candidates("w LIKE '%,def,%'"), 1u);
  EXPECT_EQ(candidates("w LIKE '%def%'"), granules.size());
}

}  // namespace
}  // namespace blocksieve
