// SPDX-License-Identifier: Apache-2.0
#include "lib/postings/postings.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "lib/postings/dictionary.h"

namespace blocksieve::internal {
namespace {

using Lists = std::map<uint64_t, std::set<uint32_t>>;  // granules by hash

struct Input {
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> counts;
  Lists lists;

  uint64_t num_granules() const { return counts.size(); }
};

// Hashes of values that `draw` chooses, by granule.
template <class Draw>
Input Drawn(size_t num_granules, size_t values_per_granule, Draw draw) {
  std::mt19937_64 random(num_granules + values_per_granule);
  Input input;
  for (size_t granule = 0; granule < num_granules; ++granule) {
    std::set<uint64_t> distinct;
    for (size_t i = 0; i < values_per_granule; ++i) {
      distinct.insert(std::mt19937_64(draw(random, granule))());
    }
    for (const uint64_t hash : distinct) {
      input.hashes.push_back(hash);
      input.lists[hash].insert(static_cast<uint32_t>(granule));
    }
    input.counts.push_back(distinct.size());
  }
  return input;
}

Input Scattered(size_t num_granules, size_t values_per_granule, uint64_t num_values) {
  return Drawn(num_granules, values_per_granule,
               [=](auto& random, size_t) { return random() % num_values; });
}

SortedPostings Sorted(const Input& input) {
  PostingLog log;
  std::span<const uint64_t> left(input.hashes);
  for (const uint64_t count : input.counts) {
    log.AddGranule(left.first(static_cast<size_t>(count)));
    left = left.subspan(static_cast<size_t>(count));
  }
  return SortedPostings(std::move(log));
}

std::string Make(const Input& input, double target_fpr = 0.001) {
  std::string bytes;
  const SortedPostings postings = Sorted(input);
  EXPECT_TRUE(AppendPostings(postings, CountPostings(postings), target_fpr, &bytes));
  return bytes;
}

class OpenPostings {
 public:
  OpenPostings(std::string bytes, uint64_t num_granules)
      : bytes_(std::move(bytes)), num_granules_(static_cast<size_t>(num_granules)) {
    EXPECT_TRUE(postings_.Open(AsBytes(bytes_), num_granules));
  }

  GranuleSet Of(uint64_t hash) const {
    GranuleSet set = GranuleSet::All(num_granules_);
    postings_.PruneByAny({&hash, 1}, &set);
    return set;
  }
  const Postings* operator->() const { return &postings_; }

 private:
  std::string bytes_;
  size_t num_granules_;
  Postings postings_;
};

// Values have exactly their granules, or, if these are in one group, at most that group.
void ExpectGranules(const Input& input, const OpenPostings& postings) {
  const uint64_t group = postings->group_granules();
  for (const auto& [hash, granules] : input.lists) {
    const GranuleSet given = postings.Of(hash);
    for (const uint32_t granule : granules) ASSERT_TRUE(given.Has(granule)) << hash;
    const bool may_be_group = *granules.begin() / group == *granules.rbegin() / group;
    ASSERT_LE(given.Count(), may_be_group ? group : granules.size()) << hash;
  }
}

/// The first byte: the number of ribbons.
void ExpectExact(const Input& input, int num_ribbons) {
  const std::string bytes = Make(input);
  EXPECT_EQ(bytes[0], num_ribbons);
  const OpenPostings postings(bytes, input.num_granules());
  EXPECT_EQ(postings->group_granules(), 1u);
  ExpectGranules(input, postings);
}

TEST(PostingsTest, StoreRareValuesInRibbons) {
  ExpectExact(Scattered(2000, 20, 500), 0);  // hardly any
  // A third of the rows have a value of their own, the others one of a thousand.
  const auto some_rare = [](auto& random, size_t) {
    return random() % 3 == 0 ? random() : random() % 1000;
  };
  ExpectExact(Drawn(3000, 10, some_rare), 2);
  // Nearly all values are rare, but each row has a frequent one, too.
  const auto most_rare = [](auto& random, size_t) {
    return random() % 2 == 0 ? random() : random() % 10;
  };
  ExpectExact(Drawn(3000, 10, most_rare), 2);
}

// In a nearly unique column, a value gets its group of granules, or its own granules if they are in
// several groups.
TEST(PostingsTest, GroupNearlyUniqueValues) {
  for (const double target_fpr : {0.1, 0.01, 0.001}) {
    for (const size_t num_granules : {100, 3000}) {
      SCOPED_TRACE(std::to_string(target_fpr) + ", granules: " + std::to_string(num_granules));
      const Input input = Drawn(num_granules, 20, [](auto& random, size_t) {
        return random() % 50 == 0 ? random() % 100 : random();
      });
      const std::string bytes = Make(input, target_fpr);
      EXPECT_NE(bytes[0], 0);
      const OpenPostings postings(bytes, num_granules);
      const uint64_t group = postings->group_granules();
      EXPECT_LE(static_cast<double>(group - 1), target_fpr * static_cast<double>(num_granules));
      if (target_fpr * static_cast<double>(num_granules) > 2) {
        EXPECT_GT(group, 1u);
      }
      ExpectGranules(input, postings);
    }
  }
}

TEST(PostingsTest, HaveFewFalsePositives) {
  const Input inputs[] = {
      Scattered(2000, 20, 5000),       // a dictionary
      Scattered(2000, 20, 30'000),     // two ribbons
      Scattered(2000, 20, 1'000'000),  // groups
      Scattered(100, 20, 1'000'000),   // groups with bits to check, but at the highest rate
  };
  for (const Input& input : inputs) {
    for (const double target_fpr : {0.1, 0.001, 1e-6}) {
      const OpenPostings postings(Make(input, target_fpr), input.num_granules());
      std::mt19937_64 random(1);
      constexpr int kProbes = 20'000;
      uint64_t given = 0;
      for (int i = 0; i < kProbes; ++i) given += postings.Of(random()).Count();
      const auto num_granules = static_cast<double>(input.num_granules());
      EXPECT_LE(static_cast<double>(given), kProbes * num_granules * target_fpr * 1.1 + 50)
          << target_fpr;
    }
  }
}

// Where it costs no more than Bloom filters, absent values get fewer granules than the target
// allows; and where postings are larger, no more than it allows.
TEST(PostingsTest, TakeTheSpaceOfBloomFiltersAtMostAtTheDefaultFpr) {
  for (const uint64_t num_values : {30, 1000, 20'000, 60'000, 100'000, 1'000'000}) {
    const Input input = Scattered(2000, 50, num_values);
    const double bloom_bits = static_cast<double>(input.hashes.size()) * 14.4;
    EXPECT_LE(8.0 * static_cast<double>(Make(input).size()), 1.06 * bloom_bits) << num_values;
  }
}

// With equal high bits, which a hash function does not produce, buckets are as good as one.
TEST(DictionaryTest, RefusesHashesWithoutDistinctRemainders) {
  std::vector<Posting> postings;
  for (uint64_t i = 0; i < 100; ++i) postings.push_back({i, 0});
  std::vector<PostingList> lists;
  for (const Posting& posting : postings) lists.emplace_back(&posting, 1);
  std::string bytes;
  EXPECT_FALSE(AppendDictionary(lists, 10, 1, 20, &bytes));
  EXPECT_EQ(bytes, "");
}

}  // namespace
}  // namespace blocksieve::internal
