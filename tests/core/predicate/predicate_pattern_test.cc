#include "lib/predicate/pattern.h"

#include <gtest/gtest.h>

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

void ExpectLike(std::string_view text, std::initializer_list<std::string_view> patterns) {
  for (const std::string_view pattern : patterns) EXPECT_TRUE(Like(text, pattern)) << pattern;
}
void ExpectUnlike(std::string_view text, std::initializer_list<std::string_view> patterns) {
  for (const std::string_view pattern : patterns) EXPECT_FALSE(Like(text, pattern)) << pattern;
}

TEST(PredicatePattern, WildcardsAndEscapes) {
  ExpectLike("abc", {"abc", "%", "a%", "%c", "%b%", "a_c", "___", "__%", "%_%_%_%"});
  ExpectLike("", {"%", "", "%%"});
  EXPECT_FALSE(Like("a", ""));
  EXPECT_FALSE(Like("", "_"));
  ExpectUnlike("abc", {"__", "____", "%_%_%_%_%", "ABC", "a\\%c", "a\\_c"});
  EXPECT_FALSE(Like("ab", "ab_"));
  EXPECT_TRUE(Like("a%c", "a\\%c"));
  EXPECT_TRUE(Like("a_c", "a\\_c"));
  EXPECT_TRUE(Like("a\\c", "a\\\\c"));
  EXPECT_TRUE(Like("a\\c", "a\\c")) << "a backslash before others is itself";
  EXPECT_TRUE(Like("a\nb", "a_b"));
  EXPECT_FALSE(Pattern::Like("abc\\"));
  EXPECT_TRUE(Like("abc\\", "abc\\\\"));
}

TEST(PredicatePattern, ATextIsNotUsedTwice) {
  EXPECT_FALSE(Like("aba", "ab%ba"));
  EXPECT_TRUE(Like("abba", "ab%ba"));
  EXPECT_FALSE(Like("aa", "a%a%a"));
  EXPECT_TRUE(Like("xaybzc", "%a%b%c"));
  EXPECT_FALSE(Like("xaybzcd", "%a%b%c"));
  EXPECT_TRUE(Like("mississippi", "%is%ip%_"));
  EXPECT_TRUE(Like("aaab", "%a_b"));
  EXPECT_TRUE(Like("abcabd", "%ab_%d"));
  EXPECT_TRUE(Like("aab", "a%_b"));
  EXPECT_FALSE(Like("ab", "a%_b"));
}

TEST(PredicatePattern, UnderscoreIsOneCharacter) {
  EXPECT_TRUE(Like("\xc3\xa9", "_"));
  EXPECT_TRUE(Like("\xe6\x97\xa5\xe6\x9c\xac", "__"));
  ExpectUnlike("\xe6\x97\xa5", {"__", "%__", "_%_", "__%"});
  EXPECT_TRUE(Like("a\xf0\x9f\x98\x80z", "a_z"));
  // What is not UTF-8 has characters too.
  EXPECT_TRUE(Like("\xff\xfe", "__"));
  EXPECT_TRUE(Like("caf\xe9!", "caf_!"));
  EXPECT_TRUE(Like("\xc3\xa9\xa9", "__"));
  EXPECT_TRUE(Like("\xc3\xa9", "%\xa9")) << "literals match bytes, as STARTSWITH does";
}

TEST(PredicatePattern, BackslashUnderscoreAtTheEnds) {
  EXPECT_TRUE(Like("_", "\\_"));
  EXPECT_TRUE(Like("%%", "\\%\\%"));
  EXPECT_FALSE(Like("ab", "\\%\\%"));
  EXPECT_TRUE(Like("\\x", "\\\\_"));
}

TEST(PredicatePattern, DoesNotTakeExponentialTime) {
  const std::string text(5'000, 'a');
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "%a_";
  EXPECT_FALSE(Like(text, pattern + "b"));
  EXPECT_FALSE(Like(text, pattern + "%b"));
  EXPECT_TRUE(Like(text, pattern + "%"));
}

TEST(PredicatePattern, KnowsPrefixesAndEquality) {
  EXPECT_TRUE(Pattern::Like("abc")->IsEqual());
  EXPECT_TRUE(Pattern::Like("")->IsEqual());
  EXPECT_TRUE(Pattern::Like("a\\%")->IsEqual());
  EXPECT_FALSE(Pattern::Like("a%")->IsEqual());
  EXPECT_TRUE(Pattern::Like("a%")->IsPrefix());
  EXPECT_TRUE(Pattern::Like("%")->IsPrefix());
  EXPECT_FALSE(Pattern::Like("a%b")->IsPrefix());
  EXPECT_FALSE(Pattern::Like("a_")->IsPrefix());
  EXPECT_FALSE(Pattern::Like("a_%")->IsPrefix());
  EXPECT_FALSE(Pattern::Like("%a")->IsPrefix());
  EXPECT_EQ(Pattern::Like("a\\%b_c")->prefix(), "a%b");
  EXPECT_EQ(Pattern::Like("%b")->prefix(), "");
  EXPECT_EQ(Pattern::Like("_b")->prefix(), "");
}

TEST(PredicatePattern, WordsAreCertainBetweenSeparators) {
  const Column column = MakeColumn("w=words:1");
  const auto tokens = [&](std::string_view pattern) {
    static std::optional<Pattern> kept;  // tokens refer to it
    kept = Pattern::Like(pattern);
    return kept->CertainTokens(column);
  };
  EXPECT_EQ(tokens("abc"), Tokens{"abc"});
  EXPECT_EQ(tokens("%abc%"), Tokens{});
  EXPECT_EQ(tokens("%,abc,%"), Tokens{"abc"});
  EXPECT_EQ(tokens("abc,%"), Tokens{"abc"});
  EXPECT_EQ(tokens("abc%"), Tokens{});
  EXPECT_EQ(tokens("abc de%"), Tokens{"abc"});
  EXPECT_EQ(tokens("%abc de"), Tokens{"de"});
  EXPECT_EQ(tokens("_ abc _"), Tokens{"abc"});
  EXPECT_EQ(tokens("abc_"), Tokens{});
  EXPECT_EQ(tokens("_abc"), Tokens{});
  EXPECT_EQ(tokens("a_b c d_e"), Tokens{"c"});
  EXPECT_EQ(tokens("abc\\_de"), (Tokens{"abc", "de"}));
  EXPECT_EQ(tokens("abc\\%"), Tokens{"abc"});
  EXPECT_EQ(tokens("b a b a"), (Tokens{"a", "b"}));
  EXPECT_EQ(tokens("%-%"), Tokens{});
  EXPECT_EQ(tokens(""), Tokens{});
}

TEST(PredicatePattern, NgramsAreCertainInsideLiterals) {
  const Column column = MakeColumn("g=ngrams(3):1");
  const auto tokens = [&](Pattern pattern) {
    static std::optional<Pattern> kept;
    kept = std::move(pattern);
    return kept->CertainTokens(column);
  };
  EXPECT_EQ(tokens(*Pattern::Like("%abcd%")), (Tokens{"abc", "bcd"}));
  EXPECT_EQ(tokens(*Pattern::Like("%abc%def%")), (Tokens{"abc", "def"}));
  EXPECT_EQ(tokens(*Pattern::Like("%ab%cd%")), Tokens{});
  EXPECT_EQ(tokens(*Pattern::Like("ab_cd")), Tokens{});
  EXPECT_EQ(tokens(*Pattern::Like("%a\\%b%")), Tokens{"a%b"});
  EXPECT_EQ(tokens(*Pattern::Like("%\xc3\xa9\xc3\xa9%")), Tokens{}) << "two characters";
  EXPECT_EQ(tokens(*Pattern::Like("%\xc3\xa9\xc3\xa9z%")), Tokens{"\xc3\xa9\xc3\xa9z"});
  // A text could go on with the last character, or own the first byte.
  EXPECT_EQ(tokens(*Pattern::Like("%abc\xe6\x97%")), Tokens{"abc"});
  EXPECT_EQ(tokens(*Pattern::Like("%\xa5"
                                  "abc%")),
            Tokens{"abc"});
  EXPECT_EQ(tokens(Pattern::Equal("abc\xe6\x97")), (Tokens{"abc", "bc\xe6\x97"}));
  EXPECT_EQ(tokens(Pattern::Prefix("abc\xe6\x97")), Tokens{"abc"});
  EXPECT_EQ(tokens(Pattern::Contains("ab")), Tokens{});
}

}  // namespace
}  // namespace blocksieve::internal
