// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/granule_pruner.h"
#include "lib/column/definition.h"
#include "tests/core/skip/test_index.h"

// Which granules a predicate selects, and which probes that takes.

namespace blocksieve::testing {
namespace {

using Numbers = std::vector<size_t>;

class GranulePrunerTest : public ::testing::Test {
 protected:
  Numbers Candidates(std::string_view text) {
    const Predicate predicate = MakePredicate(text, columns_);
    std::vector<ColumnExplanation> statistics;
    const GranuleSet set = internal::GranulePruner(predicate, index_->FindAll(predicate))
                               .Candidates(granules_.size(), &statistics);
    num_probes_ = 0;
    for (const ColumnExplanation& column : statistics) num_probes_ += column.num_probes;
    EXPECT_EQ(set.num_granules(), granules_.size());
    return Members(set);
  }

  const std::vector<Column> columns_ = MakeColumns(
      {"s=field:1", "n=int:2", "a=int:field[,]:3", "w=words:4", "g=ngrams(3):4", "x=field:5"});
  const Granules granules_{
      {"bash\t1\t1,2\tabc,def", "bash\t1\t2\tzzz"},
      {"dash\t5\t3\tabcdef", "libc\t-5\t3,4\tyyy"},
      {"zsh\tnone"},
      {"zsh\t9\t\t--", "bash\t9\t9\tbc"},
  };
  const Numbers all_{0, 1, 2, 3};
  // x has no index.
  const TestIndex index_ = IndexGranules({columns_.begin(), columns_.end() - 1}, granules_);
  uint64_t num_probes_ = 0;  // of the last call
};

TEST_F(GranulePrunerTest, ComparisonsPrune) {
  const std::pair<std::string_view, Numbers> cases[] = {
      {"s = 'bash'", {0, 3}},
      {"s = 'none'", {}},
      {"s IN ('dash', 'zsh')", {1, 2, 3}},
      {"s HAS 'dash'", {1}},
      {"s < 'c'", {0, 3}},
      {"s STARTSWITH 'li'", {1}},  // the last has "bash" and "zsh"
      {"s LIKE 'li%c'", {1}},
      {"s LIKE 'zsh'", {2, 3}},
      {"n > 4.5", {1, 3}},
      {"n BETWEEN 2 AND 8", {1}},
      {"n IS NULL", {2}},
      {"n IS NOT NULL", {0, 1, 3}},
      {"a HAS 3", {1}},
      {"w HAS 'abc'", {0}},
      {"w HAS 'ABC'", {}},
      {"w LIKE 'abc,%'", {0}},
      {"w LIKE '_ abc,d%f'", {0}},
      {"w LIKE '%,def'", {0}},
      {"w LIKE 'ab_,def'", {0}},
      {"w = 'abc,def'", {0}},
      {"w IN ('zzz', 'yyy')", {0, 1}},
      {"g LIKE '%cdef%'", {1}},
      {"g LIKE 'abc%def'", {0, 1}},
      {"g LIKE '%b_de\\%'", {}},
      {"g HAS 'c,d'", {0}},
      {"g = 'yyy'", {1}},
      // x has no index: s and n decide.
      {"x = 'q' AND s = 'dash'", {1}},
      {"s LIKE '%q' AND n = 9", {3}},
      {"s = 'bash' AND n = 9", {3}},
      {"s = 'dash' OR n = 9", {1, 3}},
      {"s = 'bash' AND (w HAS 'abc' OR n IS NULL)", {0}},
      {"FALSE OR s = 'dash'", {1}},
      {"TRUE AND s = 'dash'", {1}},
      {"NOT FALSE", all_},
      {"NOT TRUE", {}},
      // Negations prune granules that have no other value.
      {"s != 'bash'", {1, 2, 3}},
      {"s != 'zsh'", {0, 1, 3}},
      {"s NOT LIKE 'zsh'", {0, 1, 3}},
      {"s NOT IN ('zsh', 'bash')", {1}},
      {"s != 'zsh' AND s != 'bash'", {1}},
      {"NOT s < 'c'", {1, 2, 3}},
      {"n NOT BETWEEN 0 AND 6", {1, 3}},
      {"s NOT STARTSWITH 'ba'", {1, 2, 3}},
      {"NOT (s = 'bash' OR n > 0)", {1}},
      {"NOT (s != 'bash' OR n != 9)", {3}},
      {"NOT (NOT (s = 'dash') AND NOT (n = 9))", {1, 3}},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Candidates(text), expected) << text;
}

TEST_F(GranulePrunerTest, ContradictionsNeedNoIndex) {
  for (const std::string_view text : {"n = 1.5", "n IN (1.5, 1e99)", "n BETWEEN 5 AND 4",
                                      "n < -1e99", "x < 'a' AND x BETWEEN 'b' AND 'a'"}) {
    EXPECT_EQ(Candidates(text), Numbers{}) << text;
    EXPECT_EQ(num_probes_, 0u) << text;
  }
  EXPECT_EQ(Candidates("s = 'bash' AND FALSE AND n = 1"), Numbers{});
  EXPECT_EQ(num_probes_, 1u) << "for the comparison before FALSE";
}

TEST_F(GranulePrunerTest, WithoutPruningNoIndexIsProbed) {
  for (const std::string_view text :
       {"x = 'bash'", "x IN ('a', 'b')", "x < 'a'", "x IS NULL", "s LIKE '%ash'", "s LIKE '_ash%'",
        "s NOT LIKE 'b%h'", "s NOT LIKE '%'  OR TRUE", "w LIKE '%abc%'", "w LIKE 'abc%'", "w < 'b'",
        "w BETWEEN 'a' AND 'b'", "w != 'abc,def'", "w NOT IN ('a', 'b')", "w NOT HAS 'abc'",
        "w NOT LIKE '% abc %'", "w IS NOT NULL", "w = '--'", "w IN ('abc', '-')", "g LIKE '%ab%'",
        "g HAS 'ab'", "g STARTSWITH 'ab'", "g NOT HAS 'abc'", "g != 'abc'", "n != 1.5", "TRUE",
        "NOT FALSE",
        // One operand of an OR that cannot prune makes the others useless.
        "s = 'bash' OR x = 'bash'", "s = 'bash' OR (n = 1 OR g HAS 'ab')",
        "NOT (s = 'bash' AND g HAS 'abc')", "(s = 'a' AND n = 1) OR x = 'a'"}) {
    const Predicate predicate = MakePredicate(text, columns_);
    EXPECT_FALSE(index_->CanPrune(predicate)) << text;
    EXPECT_EQ(Candidates(text), all_) << text;
    EXPECT_EQ(num_probes_, 0u) << text;
  }
  EXPECT_EQ(Candidates("s = 'dash' AND g HAS 'ab' AND (n = 1 OR x = 'a')"), Numbers{1});
  EXPECT_EQ(num_probes_, 1u) << "only of s";
}

TEST_F(GranulePrunerTest, ManyValuesTakeOneProbe) {
  std::string in = "n = 1";
  std::string not_in = "s != 'zsh'";
  for (int i = 2; i <= 1000; ++i) {
    in += " OR n = " + std::to_string(i);
    not_in += " AND s != '" + std::to_string(i) + "'";
  }
  EXPECT_EQ(Candidates(in), (Numbers{0, 1, 3}));
  EXPECT_EQ(num_probes_, 1u);
  EXPECT_EQ(Candidates(not_in), (Numbers{0, 1, 3}));
  EXPECT_EQ(num_probes_, 1u);
}

TEST_F(GranulePrunerTest, CountsTheGranulesOfEachComparisonAlone) {
  const auto selected = [&](std::string_view text) {
    const Predicate predicate = MakePredicate(text, columns_);
    const internal::GranulePruner pruner(predicate, index_->FindAll(predicate));
    std::vector<ColumnExplanation> columns;
    std::vector<uint64_t> counts;
    const GranuleSet set = pruner.Candidates(granules_.size(), &columns, &counts);
    EXPECT_EQ(pruner.ColumnsOfComparisons().size(), counts.size());
    EXPECT_EQ(Members(set), Candidates(text)) << text;
    uint64_t num_probes = 0;
    for (const ColumnExplanation& column : columns) num_probes += column.num_probes;
    EXPECT_EQ(num_probes, num_probes_) << text;
    return counts;
  };
  using Counts = std::vector<uint64_t>;
  EXPECT_EQ(selected("s = 'dash' OR NOT (n > 0 AND x = 'q')"), (Counts{1, 1, 4})) << "NOT n > 0";
  EXPECT_EQ(selected("s = 'none' AND n = 9 AND FALSE"), (Counts{0, 1, 0}));
  EXPECT_EQ(selected("s = 'bash' AND (n = 9 OR n > 4) AND TRUE"), (Counts{2, 1, 2, 4}));
}

TEST_F(GranulePrunerTest, ExplainsEveryComparison) {
  struct Expected {
    std::string comparison;
    bool is_used;
    std::string reason;
  };
  const auto check = [&](std::string_view text, const std::vector<Expected>& expected) {
    const Predicate predicate = MakePredicate(text, columns_);
    const auto explanations =
        internal::GranulePruner(predicate, index_->FindAll(predicate)).Explain();
    ASSERT_EQ(explanations.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(explanations[i].comparison, expected[i].comparison);
      EXPECT_EQ(explanations[i].is_used, expected[i].is_used) << expected[i].comparison;
      EXPECT_NE(explanations[i].reason.find(expected[i].reason), std::string::npos)
          << explanations[i].comparison << ": " << explanations[i].reason;
    }
  };
  check("s = 'a' AND n != 1 AND x = 'a' AND g LIKE '%ab%' AND TRUE",
        {{"s = 'a'", true, "filters and bounds, 1 value"},
         {"n != 1", true, "only granules that have no other value"},
         {"x = 'a'", false, "column 'x' has no index"},
         {"g LIKE '%ab%'", false, "fewer than 3 characters in a row"},
         {"TRUE", false, "every row matches"}});
  check("NOT (s = 'a' AND w HAS 'a')",
        {{"s != 'a'", false, "another operand of the OR cannot prune"},
         {"w NOT HAS 'a'", false, "cannot tell which texts lack"}});
  check("n BETWEEN 1 AND 2 OR NOT n > 5",
        {{"n BETWEEN 1 AND 2", true, "bounds"}, {"NOT n > 5", true, "bounds"}});
  check("w LIKE '% a b %' AND g HAS 'abcd' AND w LIKE '%a%' AND s LIKE '%a' AND w > 'a'",
        {{"w LIKE '% a b %'", true, "filters, 2 words"},
         {"g HAS 'abcd'", true, "filters, 2 n-grams"},
         {"w LIKE '%a%'", false, "no complete word"},
         {"s LIKE '%a'", false, "begins with a wildcard"},
         {"w > 'a'", false, "order of texts"}});
  const Predicate predicate = MakePredicate("n = 1", columns_);
  EXPECT_EQ(internal::GranulePruner(predicate, std::vector<uint8_t>{0}).Explain()[0].column, "n");
}

}  // namespace
}  // namespace blocksieve::testing
