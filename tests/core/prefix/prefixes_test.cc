// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "blocksieve/filter.h"
#include "lib/prefix/prefix_rule.h"
#include "lib/prefix/prefix_section.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/environment.h"
#include "tests/support/must.h"

// Prefix filters: which prefixes a key has, which one a range has, and that no range with a key is
// ever answered "no".

namespace blocksieve::testing {
namespace {

using std::string_literals::operator""s;

std::vector<uint32_t> FindLengths(const std::string& rule, std::string_view key) {
  internal::PrefixLengths lengths;
  EXPECT_TRUE(
      internal::FindPrefixes(AsBytes(Must(internal::ParsePrefixRule(rule))), key, &lengths));
  return {lengths.all().begin(), lengths.all().end()};
}

std::string ParseError(std::string_view rule) {
  return internal::ParsePrefixRule(rule).status().message();
}

TEST(PrefixRuleTest, FindsBoundaries) {
  using Lengths = std::vector<uint32_t>;
  EXPECT_EQ(FindLengths("delimiter:/", "/usr/share/doc"), (Lengths{1, 5, 11}));
  EXPECT_EQ(FindLengths("delimiter:/", "a//"), (Lengths{2, 3}));
  EXPECT_EQ(FindLengths("delimiter:/", "plain"), Lengths{});
  EXPECT_EQ(FindLengths("delimiter:/", ""), Lengths{});
  EXPECT_EQ(FindLengths("delimiter:/,depth:2", "a/b/c/d"), (Lengths{2, 4}));
  EXPECT_EQ(FindLengths("delimiter:%00%FF", "a\0\xff\0\0\xff"s), (Lengths{3, 6}));
  EXPECT_EQ(FindLengths("delimiter:aa", "aaaaa"), (Lengths{2, 4}));
  EXPECT_EQ(FindLengths("delimiter:/", std::string(40, '/')).size(), kMaxPrefixes);
  EXPECT_EQ(FindLengths("delimiter:/", std::string(70000, 'a') + "/"), Lengths{}) << "too long";
  EXPECT_EQ(FindLengths("lengths:4,12", "12345678901"), Lengths{4});
  EXPECT_EQ(FindLengths("lengths:4,12", "123456789012"), (Lengths{4, 12}));
  EXPECT_EQ(FindLengths("fields:len8,2", "\x03nsp42field"), Lengths{6});
  EXPECT_EQ(FindLengths("fields:len8*,2*", "\x03nsp42field"), (Lengths{4, 6}));
  EXPECT_EQ(FindLengths("fields:len8,2", "\x03nsp4"), Lengths{});
  EXPECT_EQ(FindLengths("fields:len16,len32", "\0\x02nn\0\0\0\x01k-"s), Lengths{9});
  EXPECT_EQ(FindLengths("fields:len16le,len32le", "\x02\0nn\x01\0\0\0k-"s), Lengths{9});
  EXPECT_EQ(FindLengths("fields:len32le", "\0\0\0\x02nn"s), Lengths{}) << "32 MiB";
  EXPECT_EQ(FindLengths("fields:len32,*", "\0\0\0\x01k-more"s), Lengths{5});
  EXPECT_EQ(FindLengths("fields:len32", "\xff\xff\xff\xffk"), Lengths{}) << "longer than the key";
}

TEST(PrefixRuleTest, IsWrittenAsItIsRead) {
  for (const std::string text :
       {"delimiter:/", "delimiter:/,depth:3", "delimiter:%3A%3A", "delimiter:%00", "lengths:1",
        "lengths:4,12", "fields:len8,2,len32,8*", "fields:len16*,1*",
        "fields:len32le*,len16le,2*"}) {
    const std::string rule = Must(internal::ParsePrefixRule(text));
    EXPECT_EQ(internal::PrefixRuleText(AsBytes(rule)), text);
    for (size_t bytes = 0; bytes < rule.size(); ++bytes) {
      internal::PrefixLengths ignored;
      static_cast<void>(internal::PrefixRuleText(AsBytes(rule).first(bytes)));
      static_cast<void>(internal::FindPrefixes(AsBytes(rule).first(bytes), "a/b/c", &ignored));
    }
  }
  EXPECT_EQ(internal::PrefixRuleText(AsBytes(Must(internal::ParsePrefixRule("fields:len8,2")))),
            "fields:len8,2*");
}

TEST(PrefixRuleTest, SaysWhatIsWrong) {
  EXPECT_EQ(ParseError("slash"),
            "prefixes is slash; at byte 0: expected delimiter:, lengths: or fields:, found slash");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"delimiter:%zz", "expected two hexadecimal digits after %, found %zz"},
           {"delimiter:" + std::string(1 << 20, '/'), "expected a delimiter of at most 16 bytes"},
           {"delimiter:/,depth:17", "at byte 18: expected a number from 1 to 16, found 17"},
           {"delimiter:/,3", "expected depth:, found 3"},
           {"lengths:0", "expected a number from 1 to 65535, found 0"},
           {"lengths:8,4", "at byte 10: expected a length above 8, found 4"},
           {"lengths:4;", "expected the end, found ;"},
           {"fields:len64",
            "expected len8, len16, len32, len16le, len32le or a size from 1 to "
            "65535, found len64"}}) {
    EXPECT_NE(ParseError(text).find(expected), std::string::npos) << ParseError(text);
    EXPECT_LT(ParseError(text).size(), 250u);
  }
  std::string many = "lengths:1";
  for (int i = 2; i <= 200; ++i) many += "," + std::to_string(i);
  EXPECT_NE(ParseError(many).find("expected at most 16 items"), std::string::npos)
      << ParseError(many);
}

// Keys in partitions, as RocksDB cuts a file: a range is looked up in the first partition whose
// last key is not below its begin.
class Partitions {
 public:
  Partitions(const std::vector<std::string>& keys, const std::string& rule, bool ranges,
             size_t keys_per_partition) {
    const bool is_whole = keys_per_partition >= keys.size();
    const double fpr = std::pow(0.01, 1 + keys.size() % 3);  // one to three hashes
    FilterBuilder builder = Must(FilterBuilder::Create({.ranges = ranges,
                                                        .max_estimated_range_fpr = 1,
                                                        .prefixes = rule,
                                                        .prefix_fpr = fpr,
                                                        .few_prefixes_fpr = fpr,
                                                        .is_partition = !is_whole}));
    for (size_t i = 0; i < keys.size(); ++i) {
      builder.AddKey(keys[i]);
      if (i + 1 != keys.size() && (i + 1) % keys_per_partition != 0) continue;
      blocks_.push_back(Must(builder.Finish()).block);
      last_keys_.push_back(keys[i]);
    }
  }

  RangeAnswer Ask(std::string_view begin, std::string_view end) const {
    const auto found = std::lower_bound(last_keys_.begin(), last_keys_.end(), begin);
    if (found == last_keys_.end()) return RangeAnswer::kMayMatch;
    const ByteView block = blocks_[static_cast<size_t>(found - last_keys_.begin())].view();
    return Filter::Open(block).QueryRange(begin, end);
  }

 private:
  std::vector<OwnedBytes> blocks_;
  std::vector<std::string> last_keys_;
};

std::string RandomKey(Random* random) {
  static constexpr char kAlphabet[] = {'a', '/', '\0', '\xff'};
  std::string key((*random)() % 9, 'a');
  for (char& byte : key) byte = kAlphabet[(*random)() % 4];
  return key;
}

std::string RandomRule(Random* random) {
  static const std::vector<std::string> rules = {
      "delimiter:/",    "delimiter:/,depth:1", "delimiter:a/",   "delimiter:%FF", "delimiter:%00",
      "lengths:1,2,5",  "lengths:3",           "fields:len8,1*", "fields:1,2*",   "auto",
      "fields:1*,len8*"};
  return rules[(*random)() % rules.size()];
}

TEST(PrefixFilterTest, NeverDeniesARangeThatHasAKey) {
  const int rounds = LongTests() ? 500'000 : 300;
  uint64_t denied = 0;
  uint64_t empty = 0;
  for (int round = 0; round < rounds; ++round) {
    Random random(static_cast<uint64_t>(round));
    std::vector<std::string> keys(1 + random() % 60);
    for (std::string& key : keys) key = RandomKey(&random);
    keys = SortedDistinct(std::move(keys));
    const std::string rule = RandomRule(&random);
    const Partitions filter(keys, rule, random() % 2 == 0, 1 + random() % 60);
    for (int query = 0; query < 300; ++query) {
      std::string begin = RandomKey(&random);
      std::string end = random() % 2 == 0 ? RandomKey(&random) : begin.substr(0, random() % 9);
      if (!end.empty() && begin.starts_with(end)) ++end.back();
      const bool has_key = HasKeyIn(keys, begin, end);
      const RangeAnswer answer = filter.Ask(begin, end);
      ASSERT_FALSE(has_key && answer == RangeAnswer::kNo)
          << rule << ", seed " << round << ": " << ::testing::PrintToString(begin) << " to "
          << ::testing::PrintToString(end);
      empty += begin < end && !has_key;
      denied += answer == RangeAnswer::kNo;
    }
  }
  EXPECT_GT(denied, empty / 10) << "a filter that never says no hides every bug";
}

std::vector<std::string> Events() {
  std::vector<std::string> keys;
  for (int account = 0; account < 200; account += 2) {
    for (int user = 0; user < 20; user += 2) {
      for (int event = 0; event < 10; ++event) {
        keys.push_back("acc" + std::to_string(account) + ":user" + std::to_string(user) + ":" +
                       std::to_string(100000 + event * 37));
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(PrefixFilterTest, HasMoreHashesOfFewPrefixes) {
  const std::vector<std::string> keys = Events();  // 10,000, with 100 and 1,100 prefixes
  for (const auto& [rule, lookups] :
       {std::pair{"delimiter:%3A,depth:1", 2u}, std::pair{"delimiter:%3A,depth:2", 1u}}) {
    const Filter filter = Must(Filter::Build(keys, {.prefixes = rule}));
    EXPECT_EQ(Must(DescribeFilter(filter.bytes())).prefix_lookups, lookups);
  }
  const Filter few = Must(Filter::Build(keys, {.target_fpr = 0.1, .prefixes = "lengths:4"}));
  uint64_t passed = 0;
  for (int absent = 1000; absent < 6000; ++absent) {
    const std::string prefix = std::to_string(absent);
    passed += few.MayContainRange(prefix, prefix + "z");
  }
  EXPECT_LE(passed, 100u) << "a hundredth of 5,000 is 50";
}

TEST(PrefixFilterTest, SharesTheBitsOfAKeyBudget) {
  const std::vector<std::string> keys = Events();
  for (const FilterKind kind : AllFilterKinds()) {
    for (const double fpr : {0.01, 0.25, 0.5}) {  // the last has no bits for prefixes
      FilterOptions options{.kind = kind, .target_fpr = fpr};
      const auto without = static_cast<double>(Must(Filter::Build(keys, options)).bytes().size());
      options.prefixes = "delimiter:%3A";
      options.prefixes_share_bits = true;
      FilterBuilder builder = Must(FilterBuilder::Create(options));
      for (const std::string& key : keys) builder.AddKey(key);
      const FinishedFilter with = Must(builder.Finish());
      EXPECT_NEAR(static_cast<double>(with.block.size), without, 0.04 * without + 64);
      EXPECT_EQ(with.lacks_prefix_bits, fpr == 0.5);
      EXPECT_EQ(with.has_prefixes, fpr != 0.5);
      EXPECT_TRUE(Filter::Open(with.block.view()).MayContainRange("acc2:", "acc2;"));
    }
  }
}

TEST(PrefixFilterTest, AutoFindsTheDelimiterAndCostsNothingWithoutStructure) {
  const std::vector<std::string> events = Events();
  // Ten events of each user: too many prefixes. A hundred pay.
  std::vector<std::string> keys;
  for (const std::string& key : events) {
    for (char c = 'a'; c < 'k'; ++c) keys.push_back(key + c);
  }
  const Filter structured = Must(Filter::Build(keys, {.prefixes = "auto"}));
  EXPECT_EQ(Must(DescribeFilter(structured.bytes())).prefix_rule, "delimiter:%3A");
  EXPECT_FALSE(structured.MayContainRange("acc1:", "acc1;"));

  for (const size_t bytes : {4, 8, 16, 24}) {
    Random random(bytes);
    std::vector<std::string> numbers(20'000, std::string(bytes, 0));
    for (std::string& key : numbers) {
      for (char& byte : key) byte = static_cast<char>(random());
    }
    std::sort(numbers.begin(), numbers.end());
    const Filter with = Must(Filter::Build(numbers, {.prefixes = "auto"}));
    const Filter without = Must(Filter::Build(numbers));
    EXPECT_EQ(with.bytes().size(), without.bytes().size()) << bytes;
  }
}

}  // namespace
}  // namespace blocksieve::testing
