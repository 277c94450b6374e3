#include "lib/predicate/pattern.h"

#include <gtest/gtest.h>

#include <iterator>
#include <utility>
#include <vector>

#include "tests/core/column/test_columns.h"

namespace blocksieve::internal {
namespace {

using blocksieve::testing::MakeColumn;
using Tokens = std::vector<std::string_view>;

bool Like(std::string_view text, std::string_view pattern) {
  const std::optional<Pattern> parsed = Pattern::Like(pattern);
  EXPECT_TRUE(parsed.has_value()) << pattern;
  return parsed->Matches(text);
}

// What predicate_property_test.cc leaves out: escapes, and invalid UTF-8.
TEST(PredicatePatternTest, MatchesTexts) {
  const struct {
    std::string_view text;
    std::vector<std::string_view> like;
    std::vector<std::string_view> unlike;
  } cases[] = {
      {"abc", {"__%", "%_%_%_%"}, {"%_%_%_%_%", "ABC", "a\\%c", "a\\_c"}},
      {"a%c", {"a\\%c"}, {}},
      {"a_c", {"a\\_c"}, {}},
      {"a\\c", {"a\\\\c", "a\\c"}, {}},  // a backslash before anything else is literal
      {"_", {"\\_"}, {}},
      {"%%", {"\\%\\%"}, {"\\%"}},
      {"a\nb", {"a_b"}, {}},
      // An underscore is one character, also in invalid UTF-8.
      {"\xc3\xa9", {"_", "%\xa9"}, {"__"}},  // literals match bytes, as STARTSWITH does
      {"\xe6\x97\xa5", {"_"}, {"__", "%__", "_%_", "__%"}},
      {"a\xf0\x9f\x98\x80z", {"a_z"}, {"a__z"}},
      {"\xff\xfe", {"__"}, {"_"}},
      {"\xc3\xa9\xa9", {"__"}, {"_"}},
      {"caf\xe9!", {"caf_!"}, {}},
  };
  for (const auto& [text, like, unlike] : cases) {
    for (const std::string_view pattern : like) EXPECT_TRUE(Like(text, pattern)) << pattern;
    for (const std::string_view pattern : unlike) EXPECT_FALSE(Like(text, pattern)) << pattern;
  }
  EXPECT_FALSE(Pattern::Like("abc\\"));
}

TEST(PredicatePatternTest, DoesNotTakeExponentialTime) {
  const std::string text(5'000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "%a_";
  EXPECT_FALSE(Like(text, pattern + "b"));
  EXPECT_FALSE(Like(text, pattern + "%b"));
  EXPECT_TRUE(Like(text, pattern + "%"));
}

TEST(PredicatePatternTest, RecognisesPrefixesAndEquality) {
  const struct {
    std::string_view pattern;
    bool is_equal;
    bool is_prefix;
    std::string_view prefix;
  } cases[] = {
      {"abc", true, false, "abc"}, {"", true, false, ""},           {"a\\%", true, false, "a%"},
      {"a%", false, true, "a"},    {"%", false, true, ""},          {"a%b", false, false, "a"},
      {"a_", false, false, "a"},   {"a_%", false, false, "a"},      {"%b", false, false, ""},
      {"_b", false, false, ""},    {"a\\%b_c", false, false, "a%b"}};
  for (const auto& [pattern, is_equal, is_prefix, prefix] : cases) {
    const Pattern parsed = *Pattern::Like(pattern);
    EXPECT_EQ(parsed.IsEqual(), is_equal) << pattern;
    EXPECT_EQ(parsed.IsPrefix(), is_prefix) << pattern;
    EXPECT_EQ(parsed.prefix(), prefix) << pattern;
  }
}

TEST(PredicatePatternTest, WordsAreRequiredBetweenSeparators) {
  const Column column = MakeColumn("w=words:1");
  const std::pair<std::string_view, Tokens> cases[] = {
      {"abc", {"abc"}},     {"%abc%", {}},
      {"%,abc,%", {"abc"}}, {"abc,%", {"abc"}},
      {"abc%", {}},         {"abc de%", {"abc"}},
      {"%abc de", {"de"}},  {"_ abc _", {"abc"}},
      {"abc_", {}},         {"_abc", {}},
      {"a_b c d_e", {"c"}}, {"abc\\_de", {"abc", "de"}},
      {"abc\\%", {"abc"}},  {"b a b a", {"a", "b"}},
      {"%-%", {}},          {"", {}}};
  for (const auto& [pattern, tokens] : cases) {
    const Pattern parsed = *Pattern::Like(pattern);  // tokens refer to it
    EXPECT_EQ(parsed.RequiredTokens(column), tokens) << pattern;
  }
}

TEST(PredicatePatternTest, NgramsAreRequiredInsideLiterals) {
  const Column column = MakeColumn("g=ngrams(3):1");
  const std::pair<Pattern, Tokens> cases[] = {
      {*Pattern::Like("%abcd%"), {"abc", "bcd"}},
      {*Pattern::Like("%abc%def%"), {"abc", "def"}},
      {*Pattern::Like("%ab%cd%"), {}},
      {*Pattern::Like("ab_cd"), {}},
      {*Pattern::Like("%a\\%b%"), {"a%b"}},
      {*Pattern::Like("%\xc3\xa9\xc3\xa9%"), {}},  // two characters
      {*Pattern::Like("%\xc3\xa9\xc3\xa9z%"), {"\xc3\xa9\xc3\xa9z"}},
      // A text could complete the first or the last character.
      {*Pattern::Like("%abc\xe6\x97%"), {"abc"}},
      {*Pattern::Like("%\xa5"
                      "abc%"),
       {"abc"}},
      {Pattern::Equal("abc\xe6\x97"), {"abc", "bc\xe6\x97"}},
      {Pattern::Prefix("abc\xe6\x97"), {"abc"}},
      {Pattern::Contains("ab"), {}}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(cases[i].first.RequiredTokens(column), cases[i].second) << i;
  }
}

}  // namespace
}  // namespace blocksieve::internal
