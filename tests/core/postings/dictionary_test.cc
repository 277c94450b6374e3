#include "lib/postings/dictionary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/granule_set.h"

namespace blocksieve::internal {
namespace {

using Granules = std::vector<uint32_t>;

/// Each of the granules with a chance of one in `one_in`.
Granules Drawn(uint32_t num_granules, uint32_t one_in, std::mt19937_64& random) {
  Granules granules;
  for (uint32_t g = 0; g < num_granules; ++g) {
    if (random() % one_in == 0) granules.push_back(g);
  }
  return granules;
}

Granules RunFrom(uint32_t first, uint32_t count) {
  Granules granules;
  for (uint32_t i = 0; i < count; ++i) granules.push_back(first + i);
  return granules;
}

GranuleSet SetOf(const Granules& granules, size_t num_granules) {
  GranuleSet set = GranuleSet::None(num_granules);
  for (const uint32_t granule : granules) set.Add(granule);
  return set;
}

std::vector<Granules> ListsOfManyKinds(uint32_t num_granules) {
  std::mt19937_64 random(num_granules);
  std::vector<Granules> lists = {{0}, {num_granules - 1}, RunFrom(0, num_granules)};
  for (uint32_t count = 2; count <= std::min(num_granules, 40u); ++count) {
    lists.push_back(RunFrom(0, count));
    lists.push_back(RunFrom(num_granules - count, count));
    lists.push_back({0, num_granules - 1});
  }
  for (const uint32_t one_in : {2u, 3u, 5u, 10u, 100u, 1000u}) {
    for (int i = 0; i < 5; ++i) lists.push_back(Drawn(num_granules, one_in, random));
  }
  // Runs with gaps, and a gap that is longer than a code of usual length.
  Granules runs = RunFrom(0, std::min(num_granules, 70u));
  for (uint32_t g = 80; g + 3 < num_granules; g += 50) {
    for (const uint32_t next : RunFrom(g, 3)) runs.push_back(next);
  }
  lists.push_back(runs);
  std::erase_if(lists, [](const Granules& list) { return list.empty(); });
  return lists;
}

TEST(GranuleLists, ReadWhatWasWrittenAndNothingBeyondTheEnd) {
  for (const uint32_t num_granules : {2u, 15u, 64u, 65u, 1000u, 100'000u}) {
    for (const uint32_t closeness : {0u, 2u, 15u}) {
      const GranuleLists coder(num_granules, closeness);
      const std::vector<Granules> lists = ListsOfManyKinds(num_granules);
      BitWriter writer;
      std::vector<uint64_t> starts;
      for (const Granules& list : lists) {
        starts.push_back(writer.num_bits());
        coder.Append(list, &writer);
      }
      starts.push_back(writer.num_bits());
      const std::string bytes = std::move(writer).Finish();
      for (size_t i = 0; i < lists.size(); ++i) {
        BitReader reader(AsBytes(bytes), starts[i]);
        for (const uint32_t end : {num_granules, num_granules / 2, 1u, 0u}) {
          GranuleSet expected = SetOf(lists[i], num_granules);
          for (uint32_t g = end; g < num_granules; ++g) expected.Remove(g);
          GranuleSet set = GranuleSet::None(num_granules);
          ASSERT_TRUE(coder.Read(lists[i].size(), reader, end, set.words().data()));
          ASSERT_EQ(set, expected) << num_granules << " granules, list " << i << " up to " << end;
        }
        ASSERT_TRUE(coder.Skip(lists[i].size(), &reader));
        ASSERT_EQ(reader.position(), starts[i + 1]);
      }
    }
  }
}

TEST(GranuleLists, OfBitsThatNobodyWrote) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() & random());
    const uint64_t num_granules = 1 + random() % 300;
    const GranuleLists coder(num_granules, random() % 16);
    const uint64_t end = random() % (num_granules + 1);
    GranuleSet set = GranuleSet::None(static_cast<size_t>(num_granules));
    BitReader reader(AsBytes(bytes), random() % 64);
    const uint64_t count = 1 + random() % num_granules;
    coder.Read(count, reader, end, set.words().data());
    for (uint64_t g = end; g < num_granules; ++g) {
      ASSERT_FALSE(set.Has(static_cast<size_t>(g)));
    }
    if (num_granules % 64 != 0) {
      ASSERT_EQ(set.words().back() >> (num_granules % 64), 0u);
    }
    coder.Skip(count, &reader);
  }
}

struct Entries {
  std::vector<Posting> postings;
  std::vector<PostingList> lists;

  Entries(size_t count, uint32_t num_granules, uint32_t least) {
    std::mt19937_64 random(count);
    std::vector<uint64_t> hashes(count);
    for (uint64_t& hash : hashes) hash = random();
    std::sort(hashes.begin(), hashes.end());
    std::vector<size_t> starts;
    for (const uint64_t hash : hashes) {
      starts.push_back(postings.size());
      Granules granules = Drawn(num_granules, 1 + static_cast<uint32_t>(random() % 100), random);
      if (granules.size() < least) granules = RunFrom(3, least);
      for (const uint32_t granule : granules) postings.push_back({hash, granule});
    }
    starts.push_back(postings.size());
    for (size_t i = 0; i < count; ++i) {
      lists.push_back(std::span(postings).subspan(starts[i], starts[i + 1] - starts[i]));
    }
  }
};

TEST(Dictionary, IsExactForItsHashes) {
  for (const size_t count : {0u, 1u, 15u, 33u, 1000u}) {
    for (const uint32_t least : {1u, 2u}) {
      for (const uint32_t remainder_bits : {7u, 12u, 44u}) {
        const Entries entries(count, 200, least);
        std::string bytes;
        ASSERT_TRUE(
            AppendDictionary(entries.lists, 200, least, remainder_bits, ~uint64_t{0}, &bytes));
        Dictionary dictionary;
        ASSERT_TRUE(dictionary.Open(AsBytes(bytes), 200, least));
        for (const PostingList& list : entries.lists) {
          GranuleSet expected = GranuleSet::None(200);
          for (const Posting& posting : list) expected.Add(posting.granule);
          GranuleSet set = GranuleSet::None(200);
          ASSERT_TRUE(dictionary.AddGranules(list[0].hash, 200, set.words().data()));
          ASSERT_EQ(set, expected);
        }
        std::mt19937_64 random(1);
        int found = 0;
        for (int i = 0; i < 2000; ++i) {
          GranuleSet set = GranuleSet::None(200);
          ASSERT_TRUE(dictionary.AddGranules(random(), 200, set.words().data()));
          if (!set.IsEmpty()) ++found;
        }
        // It meets one of a bucket's values, 33 at most.
        EXPECT_LE(found, 2000 * std::ldexp(33, -static_cast<int>(remainder_bits)) * 1.3 + 1);
      }
    }
  }
}

TEST(Dictionary, TakesNoMoreThanAllowed) {
  const Entries entries(500, 100, 1);
  std::string bytes;
  ASSERT_TRUE(AppendDictionary(entries.lists, 100, 1, 9, ~uint64_t{0}, &bytes));
  std::string none;
  EXPECT_FALSE(AppendDictionary(entries.lists, 100, 1, 9, bytes.size(), &none));
  EXPECT_EQ(none, "");
  EXPECT_TRUE(AppendDictionary(entries.lists, 100, 1, 9, bytes.size() + 1, &none));
  EXPECT_EQ(none, bytes);
}

// More than a bucket can hold: hashes that begin alike, which no hash function gives.
TEST(Dictionary, IsNotMadeOfHashesThatCannotBeKeptApart) {
  std::vector<Posting> postings;
  for (uint64_t i = 0; i < 100; ++i) postings.push_back({i, 0});
  std::vector<PostingList> lists;
  for (const Posting& posting : postings) lists.emplace_back(&posting, 1);
  std::string bytes;
  EXPECT_FALSE(AppendDictionary(lists, 10, 1, 20, ~uint64_t{0}, &bytes));
  EXPECT_EQ(bytes, "");
}

TEST(RemainderBits, AreAsFewAsTheRateAllows) {
  EXPECT_EQ(RemainderBits(1, 1), DictionaryShape::kMinRemainderBits);
  EXPECT_EQ(RemainderBits(16, 1), 8u);  // one of 16 values, in 16 granules: one on average
  EXPECT_EQ(RemainderBits(17, 1), 9u);
  EXPECT_EQ(RemainderBits(1, 1e-6), 24u);
  EXPECT_EQ(RemainderBits(1e9, 1e-9), DictionaryShape::kMaxRemainderBits);
}

}  // namespace
}  // namespace blocksieve::internal
