// SPDX-License-Identifier: Apache-2.0
#include "tests/core/range/range_test_keys.h"

#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "tests/core/filter/test_filters.h"

namespace blocksieve::testing {
namespace {

std::vector<std::string> Made(size_t count,
                              const std::function<std::string(size_t, Random*)>& make) {
  Random random(count);
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(make(i, &random));
  return keys;
}

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

std::vector<std::string> UuidTenants(size_t tenants, size_t keys_each) {
  Random random(tenants);
  std::vector<std::string> keys;
  for (size_t tenant = 0; tenant < tenants; ++tenant) {
    const std::string prefix = HexUuid(&random) + ":";
    for (size_t i = 0; i < keys_each; ++i) {
      keys.push_back(prefix + Formatted("%013llu", 1'700'000'000'000 + random() % 10'000'000'000));
    }
  }
  return keys;
}

// Nested clusters: some of the keys that are k characters shorter than the longest continue with a
// different character.
std::vector<std::string> Nested(size_t levels) {
  std::vector<std::string> keys;
  std::string prefix;
  for (size_t level = 0; level < levels; ++level) {
    for (const char* end : {"!", "#", "z0", "z1", "~"}) keys.push_back(prefix + end);
    prefix += "mmmmmmmmmm";
  }
  return keys;
}

}  // namespace

std::vector<std::string> KeyFamily::Keys() const { return SortedDistinct(make()); }

const std::vector<KeyFamily>& KeyFamilies() {
  static const std::vector<KeyFamily> families = {
      {"Ints", [] { return RandomInts(5'000, 1); }},
      {"Counter",
       [] { return Made(3'000, [](size_t i, Random*) { return BigEndian(1'000'000 + i); }); }},
      {"TenantOfAnyLengthAndTime",
       [] {
         return Made(6'000, [](size_t, Random* random) {
           return Formatted("t%llu:", (*random)() >> (40 + (*random)() % 24)) +
                  Formatted("%llu", (*random)() >> (20 + (*random)() % 40));
         });
       }},
      // Clusters that are leaves, and clusters that are nodes.
      {"UuidTenants", [] { return UuidTenants(30, 100); }},
      {"UuidTenantsWithManyKeys", [] { return UuidTenants(5, 3'000); }},
      {"OneKey", [] { return std::vector<std::string>{"a key"}; }},
      {"TheEmptyKey", [] { return std::vector<std::string>{""}; }},
      {"Prefixes", [] { return Made(200, [](size_t i, Random*) { return std::string(i, 'a'); }); }},
      {"WordsOfExtremeBytes",
       [] {
         return Made(3'000, [](size_t, Random* random) {
           return Word(std::string_view("\0\1\x7f\x80\xfe\xff", 6), 8, random);
         });
       }},
      {"RandomBytes",
       [] {
         return Made(3'000, [](size_t i, Random* random) { return RandomBytes(i % 20, random); });
       }},
      {"LongKeysOfManyPrefixes",
       [] {
         return Made(2'000, [](size_t i, Random* random) {
           return Formatted("%llu", i % 7) + std::string(260 + i % 3 * 50, '\0') +
                  RandomBytes(4, random);
         });
       }},
      {"Nested", [] { return Nested(40); }},
      {"Paths",
       [] {
         return Made(3'000, [](size_t i, Random* random) {
           return "/usr/share/" + Formatted("package%llu/", i % 37) + Word("abcde", 4, random) +
                  Formatted("/file%llu.txt", (*random)() % 1'000);
         });
       }},
  };
  return families;
}

std::string BigEndian(uint64_t number) { return MakeKey(KeyShape::kCounter, number); }

std::string HexUuid(Random* random) {
  std::string uuid = Formatted("%016llx", (*random)());  // two statements, evaluated in order
  uuid += Formatted("%016llx", (*random)());
  for (const size_t at : {8, 13, 18, 23}) uuid.insert(at, "-");
  return uuid;
}

std::vector<std::string> RandomInts(size_t count, uint64_t seed) {
  Random random(seed);
  const uint64_t first = random();
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(BigEndian(first + random()));
  return SortedDistinct(std::move(keys));
}

std::string NearKey(std::string_view key, Random* random) {
  std::string near(key);
  const size_t at = (*random)() % (key.size() + 1);
  const auto any = static_cast<char>((*random)() % 4 == 0 ? -static_cast<int>((*random)() % 2)
                                                          : static_cast<int>((*random)() % 256));
  switch ((*random)() % 10) {
    case 0:
      break;
    case 1:
      near.push_back('\0');
      break;
    case 2:
      near.push_back(any);
      break;
    case 3:
      near.resize(at);
      break;
    case 4:
      if (at < key.size()) near[at] = static_cast<char>(near[at] + ((*random)() % 2 == 0 ? 1 : -1));
      break;
    case 5:
      near.resize(at);
      near.push_back(any);
      break;
    case 6:
      if (at < key.size()) near[at] = any;
      break;
    case 7:
      near.insert(at, 1, any);
      break;
    case 8:
      near.resize(at);
      near += RandomBytes((*random)() % 10, random);
      break;
    default:
      if (!near.empty())
        near.back() = static_cast<char>(near.back() + static_cast<char>((*random)() % 3) - 1);
  }
  return near;
}

std::string SectionBlock(std::string_view ranges) {
  OwnedBytes block;
  block.size = ranges.size() + internal::kMaxFooterBytes;
  block.memory = std::make_unique<char[]>(block.size);
  internal::FinishBlock({.kind = FilterKind::kNone, .num_keys = 1}, {}, ranges, &block);
  return Copy(block);
}

std::string RangeBlock(const std::vector<std::string>& keys, const FilterOptions& options) {
  RangeFilterBuilder ranges = Must(RangeFilterBuilder::Create(options));
  for (const std::string& key : keys) ranges.AddKey(key);
  const std::string section = ranges.Finish();
  EXPECT_EQ(ranges.absent_reason(), "");
  return SectionBlock(section);
}

RangeFilterInfo DescribeRangeBlock(const std::string& block) {
  internal::Footer footer;
  EXPECT_FALSE(internal::ParseFooter(AsBytes(block), &footer));
  return RangeFilterReader::OpenSection(footer.ranges).info();
}

bool HasKeyIn(const std::vector<std::string>& keys, std::string_view begin, std::string_view end) {
  const auto first = std::lower_bound(keys.begin(), keys.end(), begin);
  return first != keys.end() && *first < end;
}

RangeChecker::RangeChecker(const std::vector<std::string>& keys, ByteView block, bool is_whole_file)
    : keys_(keys), is_whole_file_(is_whole_file) {
  for (const Kernel kernel : internal::AvailableKernels()) {
    readers_.push_back(RangeFilterReader::Open(block, kernel));
    EXPECT_TRUE(readers_.back().is_ready());
  }
}

RangeFilterReader::Answer RangeChecker::Query(std::string_view begin, std::string_view end) const {
  using Answer = RangeFilterReader::Answer;
  const Answer answer = readers_[0].Query(begin, end);
  const auto text = [&] {
    return "[" + ::testing::PrintToString(std::string(begin)) + ", " +
           ::testing::PrintToString(std::string(end)) + ")";
  };
  for (const RangeFilterReader& reader : readers_) {
    EXPECT_EQ(reader.Query(begin, end), answer) << text();
  }
  if (answer == Answer::kMayMatch) return answer;
  EXPECT_FALSE(HasKeyIn(keys_, begin, end)) << text();
  if (is_whole_file_) {
    EXPECT_EQ(answer, Answer::kNo) << text();
  } else if (end > keys_.back()) {
    EXPECT_EQ(answer, Answer::kBeyond) << text();
  }
  return answer;
}

uint64_t ExpectRightAnswers(const std::vector<std::string>& keys, const std::string& block,
                            bool is_whole_file, int rounds, uint64_t seed) {
  const RangeChecker checker(keys, AsBytes(block), is_whole_file);
  Random random(seed);
  uint64_t denied = 0;
  const auto query = [&](std::string_view begin, std::string_view end) {
    denied += checker.Query(begin, end) != RangeFilterReader::Answer::kMayMatch;
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

}  // namespace blocksieve::testing
