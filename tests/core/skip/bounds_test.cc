// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/bounds.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/core/skip/test_index.h"

namespace blocksieve::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsIn(const ValueRange& range, const Value& value) {
  const auto from_low = range.low ? value.Compare(*range.low) : std::strong_ordering::greater;
  const auto from_high = range.high ? value.Compare(*range.high) : std::strong_ordering::less;
  return (range.includes_low ? from_low >= 0 : from_low > 0) &&
         (range.includes_high ? from_high <= 0 : from_high < 0);
}

/// One granule per list of values.
TestIndex IndexValues(ValueType type, const std::vector<std::vector<Value>>& granules) {
  return IndexOfRows(IndexOptions(1, {TypedColumn(type)}), granules.size(),
                     [&](auto g, auto& builder) {
                       for (const Value& value : granules[g]) builder.AddValue(0, value);
                     });
}

/// Compares every range between two of `bounds`, open, closed or half-open, with the values.
/// Returns the number of granules removed.
uint64_t ExpectSound(ValueType type, const std::vector<std::vector<Value>>& granules,
                     const std::vector<Value>& bounds) {
  const TestIndex index = IndexValues(type, granules);
  uint64_t removed = 0;
  const auto check = [&](const ValueRange& range) {
    const GranuleSet kept = index.Overlapping(0, range);
    for (size_t g = 0; g < granules.size(); ++g) {
      bool any = false;
      for (const Value& value : granules[g]) any |= IsIn(range, value);
      ASSERT_TRUE(kept.Has(g) || !any) << "granule " << g;
      removed += !kept.Has(g);
    }
  };
  for (const Value& low : bounds) {
    for (const bool includes_low : {false, true}) {
      check({low, std::nullopt, includes_low, true});
      check({std::nullopt, low, true, includes_low});
      for (const Value& high : bounds) {
        for (const bool includes_high : {false, true}) {
          check({low, high, includes_low, includes_high});
        }
      }
    }
    // Values are pruned by the same bounds as ranges.
    const GranuleSet equal = index.Overlapping(0, {low, low});
    const GranuleSet kept = index.ContainingAny(0, {&low, 1});
    for (size_t g = 0; g < granules.size(); ++g) EXPECT_TRUE(equal.Has(g) || !kept.Has(g));
    const GranuleSet differing = index.Differing(0, low);
    for (size_t g = 0; g < granules.size(); ++g) {
      bool any = false;
      for (const Value& value : granules[g]) any |= !(value == low);
      EXPECT_TRUE(differing.Has(g) || !any) << "granule " << g << " has only " << low.ToText();
    }
  }
  return removed;
}

std::vector<std::vector<Value>> Divide(const std::vector<Value>& values, std::mt19937_64* random) {
  std::vector<std::vector<Value>> granules(1);
  for (const Value& value : values) {
    if ((*random)() % 3 == 0) granules.emplace_back();
    if ((*random)() % 16 == 0) granules.emplace_back();  // none
    granules.back().push_back(value);
  }
  return granules;
}

std::vector<Value> RandomValues(ValueType type, std::mt19937_64* random) {
  std::vector<Value> values;
  if (type == ValueType::kFloat) {
    for (const double extreme : {kInfinity, -kInfinity, kNan, 0.0, -0.0, 5e-324, -5e-324}) {
      values.push_back(Value::Float(extreme));
    }
  }
  const auto add = [&](uint64_t number) {
    values.push_back(type == ValueType::kUint ? Value::Uint(number)
                     : type == ValueType::kInt
                         ? Value::Int(static_cast<int64_t>(number))
                         : Value::Float(std::ldexp(static_cast<double>(number % 2001) - 1000,
                                                   static_cast<int>(number % 40) - 20)));
  };
  for (const uint64_t extreme : {uint64_t{0}, uint64_t{1} << 63, (uint64_t{1} << 63) - 1,
                                 std::numeric_limits<uint64_t>::max()}) {
    add(extreme);
  }
  while (values.size() < 400) {
    const uint64_t number = (*random)() >> ((*random)() % 64);
    add((*random)() % 2 == 0 ? number : 0 - number);
  }
  return values;
}

TEST(BoundsTest, AreSoundForNumbers) {
  for (const ValueType type : {ValueType::kInt, ValueType::kUint, ValueType::kFloat}) {
    std::mt19937_64 random(1);
    const std::vector<Value> values = RandomValues(type, &random);
    const std::vector<Value> bounds(values.begin(), values.begin() + 40);
    EXPECT_GT(ExpectSound(type, Divide(values, &random), bounds), 1000) << ValueTypeName(type);
  }
}

TEST(BoundsTest, AreSoundForBytes) {
  // Common prefixes, 0xff at every position of a cut, lengths around the limit.
  std::mt19937_64 random(3);
  std::vector<std::string> texts = {"",
                                    std::string(1, '\0'),
                                    "\xff",
                                    std::string(63, '\xff'),
                                    std::string(64, '\xff'),
                                    std::string(65, '\xff'),
                                    std::string(200, 'a'),
                                    std::string(64, 'a'),
                                    std::string(5000, 'a'),
                                    std::string(5000, '\xff'),
                                    std::string(4096, '\xff')};
  for (int i = 0; i < 300; ++i) {
    std::string text(i % 50 == 0         ? 4000 + random() % 200
                     : random() % 3 == 0 ? random() % 70
                                         : random() % 4,
                     'p');
    for (uint64_t n = random() % 8; n > 0; --n) text.push_back("\0a\xfe\xff"[random() % 4]);
    texts.push_back(text);
  }
  std::vector<Value> values;
  for (const std::string& text : texts) values.push_back(Value::Bytes(text));
  std::vector<Value> bounds(values.begin(), values.begin() + 40);
  EXPECT_GT(ExpectSound(ValueType::kBytes, Divide(values, &random), bounds), 1000);
  // All in one granule, and each in a granule of its own.
  ExpectSound(ValueType::kBytes, {values}, bounds);
  std::vector<std::vector<Value>> single;
  for (const Value& value : values) single.push_back({value});
  ExpectSound(ValueType::kBytes, single, bounds);
}

Value NumberOf(ValueType type, double number) {
  return type == ValueType::kFloat ? Value::Float(number)
         : type == ValueType::kInt ? Value::Int(static_cast<int64_t>(number))
                                   : Value::Uint(static_cast<uint64_t>(number));
}

size_t SelectedByRange(const TestIndex& index, const std::string& low, const std::string& high) {
  return index.Overlapping(0, {Value::Bytes(low), Value::Bytes(high)}).Count();
}

// Granules of a cluster that ascends, most of them with outliers, and now and then with numbers of
// all magnitudes.
TEST(BoundsTest, AreSoundForOutliers) {
  for (const ValueType type : {ValueType::kInt, ValueType::kUint, ValueType::kFloat}) {
    std::mt19937_64 random(7);
    const std::vector<Value> odd = RandomValues(type, &random);
    std::vector<std::vector<Value>> granules(200);
    std::vector<Value> bounds(odd.begin(), odd.begin() + 12);
    for (uint64_t g = 0; g < granules.size(); ++g) {
      for (uint64_t i = 0; i < 12; ++i) {
        const double number = 1.7e9 + static_cast<double>(g * (g / 70) * 100 + random() % 90);
        granules[g].push_back(NumberOf(type, number));
        if (random() % 24 >= g % 4) continue;
        granules[g].push_back(odd[random() % (g % 16 == 7 ? odd.size() : g % 3 + 1)]);
      }
      if (g % 8 == 0) bounds.push_back(granules[g].back());
    }
    EXPECT_GT(ExpectSound(type, granules, bounds), 1000) << ValueTypeName(type);
  }
}

// Half of the granules have a value far from others. They are selected for it, and for their own.
TEST(BoundsTest, OutliersHideNothing) {
  for (const ValueType type : {ValueType::kInt, ValueType::kFloat}) {
    for (const double odd : {0.0, -1e18, 4102444800.0, 9e18, kInfinity, kNan}) {
      if (type == ValueType::kInt && !std::isfinite(odd)) continue;
      std::vector<std::vector<Value>> granules(200);
      for (size_t i = 0; i < 20 * granules.size(); ++i) {
        const double number = i % 40 == 3 ? odd : 1.7e9 + 60 * static_cast<double>(i);
        granules[i / 20].push_back(NumberOf(type, number));
      }
      const TestIndex index = IndexValues(type, granules);
      const Value value = NumberOf(type, odd);
      EXPECT_EQ(index.Overlapping(0, {value, value}).Count(), 100u) << odd;
      const ValueRange range{NumberOf(type, 1.7e9 + 60 * 1210), NumberOf(type, 1.7e9 + 60 * 1290)};
      EXPECT_LE(index.Overlapping(0, range).Count(), 6u) << odd;
    }
  }
  const Value values[] = {Value::Bytes("2013-01-01"), Value::Bytes("2014-03-01"),
                          Value::Bytes("never")};
  std::vector<std::vector<Value>> granules(100, {values[0], values[2]});
  granules.resize(200, {values[1], values[2]});
  const TestIndex index = IndexValues(ValueType::kBytes, granules);
  EXPECT_EQ(SelectedByRange(index, "2012", "2014-02"), 100u);
  EXPECT_EQ(SelectedByRange(index, "2015", "a"), 0u);
  EXPECT_LE(index.Differing(0, std::span(values).last(2)).Count(), 102u) << "both are known";
}

std::vector<std::string> Ascending(const std::string& prefix, size_t count) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < count; ++i) texts.push_back(prefix + RowKey(i));
  return texts;
}

/// Granules of 20 texts each.
TestIndex IndexOfTexts(const std::vector<std::string>& texts) {
  std::vector<std::vector<Value>> granules((texts.size() + 19) / 20);
  for (size_t i = 0; i < texts.size(); ++i) granules[i / 20].push_back(Value::Bytes(texts[i]));
  return IndexValues(ValueType::kBytes, granules);
}

// The limit of a bound counts from what it shares with the one before it.
TEST(BoundsTest, LongCommonPrefixesHideNothing) {
  for (const size_t length : {20, 64, 200, 255, 256, 300, 1000, 2000, 4000}) {
    const std::string prefix(length, 'p');
    std::vector<std::string> texts = Ascending(prefix, 5000);
    const TestIndex index = IndexOfTexts(texts);
    EXPECT_LE(SelectedByRange(index, texts[1010], texts[1030]), 3u) << length;
    EXPECT_LE(index.info(0).bounds_bytes, 8 * 250 + 4 * length) << length;
    if (length > 1000) continue;  // the space for a prefix at each block is limited
    // An odd row makes the common prefix of the file empty.
    texts[0] = "a";
    texts[2507] = "zzz";
    const TestIndex with_odd_rows = IndexOfTexts(texts);
    EXPECT_LE(SelectedByRange(with_odd_rows, texts[1010], texts[1030]), 5u) << length;
  }
}

// Longer than any bound: all are cut alike.
TEST(BoundsTest, ThoseThatSayNothingAreNotStored) {
  const TestIndex alike = IndexOfTexts(Ascending(std::string(5000, 'p'), 500));
  EXPECT_EQ(alike.info(0).bounds, PartState::kUseless);
  EXPECT_EQ(alike.info(0).bounds_bytes, 0u);
  EXPECT_EQ(IndexOfTexts(Ascending("p", 500)).info(0).bounds, PartState::kPresent);
  EXPECT_EQ(IndexOfTexts(std::vector<std::string>(500, "same")).info(0).bounds,
            PartState::kPresent);
}

}  // namespace
}  // namespace blocksieve::testing
