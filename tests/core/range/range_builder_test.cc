// SPDX-License-Identifier: Apache-2.0
#include "lib/base/kernels.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/environment.h"
#include "tests/support/param_names.h"

namespace blocksieve::testing {
namespace {

using RangeAnswer = RangeFilterReader::Answer;

std::string RandomBytes(size_t size, Random* random) {
  std::string bytes;
  while (bytes.size() < size) bytes.push_back(static_cast<char>((*random)()));
  return bytes;
}

/// Up to `max_length` of these characters.
std::string Word(std::string_view characters, size_t max_length, Random* random) {
  std::string word;
  for (size_t length = (*random)() % (max_length + 1); length > 0; --length) {
    word.push_back(characters[(*random)() % characters.size()]);
  }
  return word;
}

std::string UuidAndTime(uint64_t tenant, Random* random) {
  Random of_tenant(tenant);
  return HexUuid(&of_tenant) +
         Formatted(":%013llu", 1'700'000'000'000 + (*random)() % 10'000'000'000);
}

std::string Path(size_t i, Random* random) {
  return "/usr/share/" + Formatted("package%llu/", i % 37) + Word("abcde", 4, random) +
         Formatted("/file%llu.txt", (*random)() % 1'000);
}

/// A family of similar keys. Their filter must give correct answers, but need not meet an FPR.
struct KeyFamily {
  std::string name;
  size_t count;
  std::string (*key)(size_t i, Random* random);

  /// Ascending and distinct.
  std::vector<std::string> Keys() const {
    Random random(count);
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back(key(i, &random));
    return SortedDistinct(std::move(keys));
  }
};

void PrintTo(const KeyFamily& family, std::ostream* out) { *out << family.name; }

const KeyFamily kPaths{"Paths", 3'000, Path};

const KeyFamily kFamilies[] = {
    kPaths,
    {"Ints", 5'000, [](size_t, Random* random) { return BigEndian((*random)()); }},
    {"Counter", 3'000, [](size_t i, Random*) { return BigEndian(1'000'000 + i); }},
    {"TenantOfAnyLengthAndTime", 6'000,
     [](size_t, Random* random) {
       return Formatted("t%llu:", (*random)() >> (40 + (*random)() % 24)) +
              Formatted("%llu", (*random)() >> (20 + (*random)() % 40));
     }},
    // Clusters that are leaves, and clusters that are nodes.
    {"UuidTenants", 3'000, [](size_t i, Random* random) { return UuidAndTime(i / 100, random); }},
    {"UuidTenantsWithManyKeys", 15'000,
     [](size_t i, Random* random) { return UuidAndTime(i / 3'000, random); }},
    {"OneKey", 1, [](size_t, Random*) { return std::string("a key"); }},
    {"TheEmptyKey", 1, [](size_t, Random*) { return std::string(); }},
    {"Prefixes", 200, [](size_t i, Random*) { return std::string(i, 'a'); }},
    {"WordsOfExtremeBytes", 3'000,
     [](size_t, Random* random) {
       return Word(std::string_view("\0\1\x7f\x80\xfe\xff", 6), 8, random);
     }},
    {"RandomBytes", 3'000, [](size_t i, Random* random) { return RandomBytes(i % 20, random); }},
    {"LongKeysOfManyPrefixes", 2'000,
     [](size_t i, Random* random) {
       return Formatted("%llu", i % 7) + std::string(260 + i % 3 * 50, '\0') +
              RandomBytes(4, random);
     }},
    // Clusters within clusters: some of the keys that are k characters shorter than the longest
    // continue with a different character.
    {"Nested", 200,
     [](size_t i, Random*) {
       constexpr const char* kEnds[] = {"!", "#", "z0", "z1", "~"};
       return std::string(i / 5 * 10, 'm') + kEnds[i % 5];
     }},
};

/// The range filter of these keys, added in this order.
struct Built {
  Built(RangeFilterBuilder* builder, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) builder->AddKey(key);
    block = SectionBlock(builder->Finish());
    absent_reason = builder->absent_reason();
    EXPECT_TRUE(Filter::Verify(AsBytes(block)).ok());
  }

  void ExpectAbsent(const std::string& reason) const {
    EXPECT_EQ(absent_reason, reason);
    const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
    EXPECT_FALSE(reader.is_ready());
    EXPECT_EQ(reader.Query("a", "b"), RangeFilterReader::Answer::kMayMatch);
  }

  void ExpectPresent(uint64_t num_keys) const {
    EXPECT_EQ(absent_reason, "");
    EXPECT_TRUE(RangeFilterReader::Open(AsBytes(block)).is_ready());
    EXPECT_EQ(DescribeRangeBlock(block).num_keys, num_keys);
  }

  std::string block;
  std::string absent_reason;
};

Built Build(const FilterOptions& options, const std::vector<std::string>& keys) {
  RangeFilterBuilder builder = Must(RangeFilterBuilder::Create(options));
  return Built(&builder, keys);
}

TEST(RangeFilterBuilderTest, DescribesTheFilter) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  for (const bool is_whole_file : {true, false}) {
    const Built built = Build({.is_partition = !is_whole_file}, keys);
    built.ExpectPresent(keys.size());
    const RangeFilterInfo info = DescribeRangeBlock(built.block);
    EXPECT_EQ(info.is_whole_file, is_whole_file);
    EXPECT_EQ(info.cells_per_key, 91u);  // of 1.1 %
    EXPECT_EQ(info.model_bytes, 0u);     // random bytes need none
    EXPECT_LT(info.estimated_fpr, 0.03);
  }
}

TEST(RangeFilterBuilderTest, RefusesKeysThatAreTooSimilar) {
  const std::vector<std::string> paths = kPaths.Keys();
  // The keys are as dense as can be: every range is next to a key.
  const Built built = Build({.max_estimated_range_fpr = 0.01}, paths);
  const std::string& reason = built.absent_reason;
  EXPECT_TRUE(reason.starts_with("keys are too similar: estimated FPR of short ranges is 0."))
      << reason;
  EXPECT_TRUE(reason.ends_with("; allowed: up to 0.01")) << reason;
  built.ExpectAbsent(reason);
  Build({.max_estimated_range_fpr = 1}, paths).ExpectPresent(paths.size());
}

// The builder tries some stretches of many keys first: how many keys are similar matters, but not
// where they are.
TEST(RangeFilterBuilderTest, CountsSimilarKeysAnywhere) {
  const std::vector<std::string> paths = kPaths.Keys();
  for (const char* const where : {"\x01", "\x80", "\xf0"}) {
    for (const size_t percent : {10, 90}) {
      std::vector<std::string> keys = RandomInts(1'000 * (100 - percent), 1);
      for (size_t i = 0; i < 1'000 * percent; ++i) {
        keys.push_back(where + std::to_string(i / paths.size()) + paths[i % paths.size()]);
      }
      std::sort(keys.begin(), keys.end());
      const Built built = Build({}, keys);
      EXPECT_EQ(built.absent_reason.empty(), percent == 10) << built.absent_reason;
    }
  }
}

TEST(RangeFilterBuilderTest, RefusesKeysOutOfOrder) {
  const std::string reason = "keys are not in bytewise order";
  Build({}, {"b", "a"}).ExpectAbsent(reason);
  Build({}, {"a", "c", "b", "d"}).ExpectAbsent(reason);
  Build({}, {"b", "a", "a", "c", "d"}).ExpectAbsent(reason);
  Build({}, {"a", ""}).ExpectAbsent(reason);
  Build({}, {"\x80", "\x7f"}).ExpectAbsent(reason);
  Build(AnyEstimate(), {"", "\x7f", "\x80", "\x80\x01"}).ExpectPresent(4);
}

// They take no memory, and neither do keys after the limit was exceeded.
TEST(RangeFilterBuilderTest, IgnoresEqualKeys) {
  const std::vector<std::string> once = RandomInts(500, 1);
  std::vector<std::string> repeated;
  for (size_t i = 0; i < once.size(); ++i) repeated.insert(repeated.end(), 1 + i % 3, once[i]);
  EXPECT_TRUE(Build({}, once).block == Build({}, repeated).block);
  Build({}, {"a", "a", "a"}).ExpectPresent(1);
  Build({}, {"", ""}).ExpectPresent(1);
  Build({.max_build_bytes = 100}, std::vector<std::string>(1'000, "a")).ExpectPresent(1);
}

TEST(RangeFilterBuilderTest, MayBeUsedAgain) {
  const std::vector<std::string> keys = RandomInts(1'000, 1);
  const FilterOptions options{.max_estimated_range_fpr = 0.1, .max_build_bytes = 100'000};
  const std::string expected = Build(options, keys).block;
  RangeFilterBuilder builder = Must(RangeFilterBuilder::Create(options));
  const auto expect_same = [&] {
    Built again(&builder, keys);
    EXPECT_TRUE(again.block == expected);
    again.ExpectPresent(keys.size());
  };
  expect_same();
  expect_same();
  Built(&builder, {"b", "a"}).ExpectAbsent("keys are not in bytewise order");
  expect_same();
  Built(&builder, {}).ExpectAbsent("no keys");
  Built(&builder, RandomInts(10'000, 2))
      .ExpectAbsent("building takes more memory than max_build_bytes = 100000");
  expect_same();
  // Every cell has two keys, too few for a cluster.
  std::vector<std::string> similar;
  for (const std::string& key : RandomInts(300, 3)) {
    for (const char* end : {"a", "b"}) similar.push_back(key + end);
  }
  EXPECT_TRUE(Built(&builder, similar).absent_reason.starts_with("keys are too similar"));
  expect_same();
  RangeFilterBuilder moved = std::move(builder);
  builder = std::move(moved);
  expect_same();
}

// Keys that are prefixes of each other make clusters within clusters, as deep as they are long.
TEST(RangeFilterBuilderTest, LimitsTheNestingOfClusters) {
  std::vector<std::string> keys;
  for (size_t length = 0; length < 9'000; ++length) keys.emplace_back(length, 'a');
  const Built built = Build(AnyEstimate(), keys);
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(built.block));
  for (const std::string& key : keys) {
    ASSERT_EQ(reader.Query(key, key + '\0'), blocksieve::RangeAnswer::kMayMatch);
  }
  EXPECT_EQ(reader.Query("b", "c"), blocksieve::RangeAnswer::kNo);
  EXPECT_EQ(reader.Query("aab", "aac"), blocksieve::RangeAnswer::kNo);
}

TEST(RangeBlockTest, NeedsNoKeyFilter) {
  const std::string block = RangeBlock({"b", "d"}, AnyEstimate());
  const Filter filter = Filter::Open(AsBytes(block));
  EXPECT_EQ(filter.state(), Filter::State::kReady);
  EXPECT_TRUE(filter.MayContain("c"));
  EXPECT_FALSE(filter.MayContainRange("x", "y"));
  EXPECT_TRUE(Filter::Verify(AsBytes(block)).ok());
  const FilterDescription info = Must(DescribeFilter(AsBytes(block)));
  EXPECT_EQ(info.kind, FilterKind::kNone);
  EXPECT_EQ(info.predicted_fpr, 1);
  EXPECT_EQ(info.num_range_keys, 2u);
}

TEST(RangeBlockTest, InvertedAndEmptyRangesMayMatch) {
  const std::string block = RangeBlock({"b", "d"}, AnyEstimate());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Query("x", "y"), RangeAnswer::kNo);
  EXPECT_EQ(RangeFilterReader().Query("x", "y"), RangeAnswer::kMayMatch);
  EXPECT_EQ(RangeFilterReader::Open({}).Query("x", "y"), RangeAnswer::kMayMatch);
  for (const auto& [begin, end] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"y", "x"}, {"x", "x"}, {"", ""}, {"x", ""}, {{}, {}}}) {
    EXPECT_EQ(reader.Query(begin, end), RangeAnswer::kMayMatch);
  }
}

// A range filter never answers "no" to a range that holds a key, whatever the keys are.

/// A key near this one: the key itself, its successor, or a changed or truncated key.
std::string NearKey(std::string_view key, Random* random) {
  const auto draw = [&](size_t bound) { return (*random)() % bound; };
  std::string near(key);
  const bool is_last = !key.empty() && draw(4) == 0;
  const size_t at = is_last ? key.size() - 1 : draw(key.size() + 1);
  // Next to the one there, an extreme one, or any.
  const int there = at < key.size() ? key[at] : 0;
  const int bytes[] = {there - 1, there + 1, 0, 0xff, static_cast<int>(draw(256))};
  const auto byte = static_cast<char>(bytes[draw(5)]);
  switch (draw(6)) {
    case 0:
      break;
    case 1:
      near.push_back(byte);
      break;
    case 2:
      near.insert(at, 1, byte);
      break;
    case 3:
      if (at < near.size()) near[at] = byte;
      break;
    case 4:
      near.resize(at);
      break;
    default:
      near.resize(at);
      near += byte + RandomBytes(draw(9), random);
  }
  return near;
}

/// Queries a range filter of keys, on all kernels. Expects that they agree, and that the answer is
/// correct: "no" only for empty ranges, and in a partition only for ranges that end before its last
/// key. The arguments must outlive it.
class RangeChecker {
 public:
  RangeChecker(const std::vector<std::string>& keys, ByteView block, bool is_whole_file)
      : keys_(keys), is_whole_file_(is_whole_file) {
    for (const Kernel kernel : internal::AvailableKernels()) {
      readers_.push_back(RangeFilterReader::Open(block, kernel));
      EXPECT_TRUE(readers_.back().is_ready());
    }
  }

  RangeAnswer Query(std::string_view begin, std::string_view end) const {
    const RangeAnswer answer = readers_[0].Query(begin, end);
    const auto text = [&] {
      return "[" + ::testing::PrintToString(std::string(begin)) + ", " +
             ::testing::PrintToString(std::string(end)) + ")";
    };
    for (const RangeFilterReader& reader : readers_) {
      EXPECT_EQ(reader.Query(begin, end), answer) << text();
    }
    if (answer == RangeAnswer::kMayMatch) return answer;
    EXPECT_FALSE(HasKeyIn(keys_, begin, end)) << text();
    if (is_whole_file_) {
      EXPECT_EQ(answer, RangeAnswer::kNo) << text();
    } else if (end > keys_.back()) {
      EXPECT_EQ(answer, RangeAnswer::kBeyond) << text();
    }
    return answer;
  }

 private:
  const std::vector<std::string>& keys_;
  const bool is_whole_file_;
  std::vector<RangeFilterReader> readers_;
};

/// Checks ranges near keys. Returns the number of answers other than "may match".
uint64_t ExpectRightAnswers(const std::vector<std::string>& keys, const std::string& block,
                            bool is_whole_file, int rounds, uint64_t seed) {
  const RangeChecker checker(keys, AsBytes(block), is_whole_file);
  Random random(seed);
  uint64_t denied = 0;
  const auto query = [&](std::string_view begin, std::string_view end) {
    denied += checker.Query(begin, end) != RangeAnswer::kMayMatch;
  };
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    // Often near the last key, where a partition ends.
    const size_t last = std::min<size_t>(keys.size(), 3);
    const size_t at = round % 8 == 0 ? keys.size() - 1 - random() % last : random() % keys.size();
    const std::string& key = keys[at];
    const std::string successor = key + '\0';
    query(key, successor);
    if (at + 1 < keys.size()) {
      query(successor, keys[at + 1]);
      query(key, keys[at + 1]);
      query(keys[at + 1], keys[at + 1] + '\0');
      query(keys[at], keys[at + random() % (keys.size() - at)]);
    }
    const std::string near = NearKey(key, &random);
    query(near, successor);
    query(key, near);
    query(successor, near);
    query(near, near + '\0');
    query(near, NearKey(key, &random));
    query(near, NearKey(near, &random));
    query(near, NearKey(keys[std::min(at + random() % 3, keys.size() - 1)], &random));
    query(near, NearKey(keys[random() % keys.size()], &random));
    query("", near);
    query({}, near);
  }
  return denied;
}

constexpr double kFprs[] = {0.015, 0.3, 0.1, 0.001, 1e-5};

class RangeAnswersTest : public ::testing::TestWithParam<KeyFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, RangeAnswersTest, ::testing::ValuesIn(kFamilies), ParamNames());

TEST_P(RangeAnswersTest, AreRight) {
  const std::vector<std::string> keys = GetParam().Keys();
  const int rounds = LongTests() ? 200'000 : 500;
  bool is_whole_file = false;
  for (const double fpr : kFprs) {
    is_whole_file = !is_whole_file;
    SCOPED_TRACE(std::to_string(fpr) + (is_whole_file ? ", whole file" : ", partition"));
    const std::string block = RangeBlock(keys, AnyEstimate(is_whole_file, fpr));
    EXPECT_GT(ExpectRightAnswers(keys, block, is_whole_file, rounds, 1), 0u)
        << "a filter that never says no hides every bug";
    if (HasFailure()) return;
  }
}

// Every range between strings of up to four bytes of three values, for many sets of such keys.
TEST(RangeFilterExhaustiveTest, SmallSetsAndRanges) {
  std::vector<std::string> all = {""};
  for (size_t i = 0; all[i].size() < 4; ++i) {
    for (const char byte : {'\0', 'm', '\xff'}) all.push_back(all[i] + byte);
  }
  all = SortedDistinct(std::move(all));
  Random random(1);
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    std::vector<std::string> keys;
    for (const std::string& key : all) {
      if (random() % (2 + static_cast<unsigned>(round) % 20) == 0) keys.push_back(key);
    }
    if (keys.empty()) continue;
    const bool is_whole_file = round % 2 == 0;
    const std::string block = RangeBlock(keys, AnyEstimate(is_whole_file, kFprs[round % 5]));
    const RangeChecker checker(keys, AsBytes(block), is_whole_file);
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i + 1; j < all.size(); ++j) checker.Query(all[i], all[j]);
    }
  }
}

// 'g' never occurs. After "a" there is only one symbol, 'h', which 'g' must not be mistaken for.
TEST(RangeFilterExhaustiveTest, BytesThatNeverOccurNextToTheOnlySymbol) {
  std::vector<std::string> keys = {"ah0", "ah3", "ah5", "ah9"};
  for (const std::string first : {"c", "e"}) {
    for (uint64_t i = 0; i < 1'000; ++i) keys.push_back(first + Formatted("d%03llu", i));
  }
  const std::string block = RangeBlock(keys, AnyEstimate());
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  EXPECT_EQ(reader.Query("agz", "ah1"), RangeAnswer::kMayMatch);
}

// Random sets of words over few byte values test what depends on models: symbols, edges, positions.
TEST(RangeFilterExhaustiveTest, RandomModels) {
  Random random(1);
  const int rounds = LongTests() ? 50'000 : 600;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    // Each position has its own byte values, some of them rare.
    std::vector<std::string> bytes(1 + random() % 6);
    for (std::string& of_position : bytes) {
      const size_t num_bytes = 1 + random() % 5;
      const auto lowest = static_cast<uint8_t>(random());
      while (of_position.size() < num_bytes) {
        of_position.push_back(static_cast<char>(lowest + random() % 12));
      }
    }
    std::vector<std::string> keys;
    for (uint64_t count = 1 + (random() % 3'000 >> random() % 12); count > 0; --count) {
      std::string key;
      for (const std::string& of_position : bytes) {
        if (round % 2 == 0 && random() % 16 == 0) break;  // else all have one length
        const uint64_t rank = random() % of_position.size();
        key.push_back(of_position[random() % 64 == 0 ? rank : rank / 2]);
      }
      keys.push_back(key);
    }
    keys = SortedDistinct(std::move(keys));
    const std::string block = RangeBlock(keys, AnyEstimate(true, kFprs[round % 5]));
    ExpectRightAnswers(keys, block, true, 150, random());
    // Beside a key filter, which answers for each of few possible keys.
    const Filter filter = Must(Filter::Build(keys, {.ranges = true, .max_estimated_range_fpr = 1}));
    for (int i = 0; i < 150; ++i) {
      const std::string begin = NearKey(keys[random() % keys.size()], &random);
      const std::string end = NearKey(i % 2 == 0 ? begin : keys[random() % keys.size()], &random);
      ASSERT_TRUE(filter.MayContainRange(begin, end) || !HasKeyIn(keys, begin, end))
          << ::testing::PrintToString(begin) << " " << ::testing::PrintToString(end);
    }
  }
}

}  // namespace
}  // namespace blocksieve::testing
