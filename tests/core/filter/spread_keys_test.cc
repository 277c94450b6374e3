// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "blocksieve/column.h"
#include "blocksieve/hash.h"
#include "lib/base/coding.h"
#include "tests/core/filter/test_filters.h"

// Applications spread keys over databases by a hash, mostly XXH3. The keys of one shard then agree
// in some bits of that hash, present keys and absent ones alike. If filters used the same bits,
// they would pass most absent keys of the shard.

namespace blocksieve::testing {
namespace {

constexpr uint64_t kNumPresent = 600;
constexpr double kTargetFpr = 0.05;

// Ways to choose a shard of N.
struct SpreadRule {
  const char* name;
  uint64_t (*shard)(std::string_view key, uint64_t num_shards);
};

uint64_t Plain(std::string_view key) { return WideChecksum(AsBytes(key)); }

uint64_t TopBits(uint64_t hash, uint64_t num_shards) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * num_shards) >> 64);
}

constexpr SpreadRule kRules[] = {
    {"top bits of XXH3", [](std::string_view key, uint64_t n) { return TopBits(Plain(key), n); }},
    {"low bits of XXH3", [](std::string_view key, uint64_t n) { return Plain(key) & (n - 1); }},
    {"XXH3 modulo", [](std::string_view key, uint64_t n) { return Plain(key) % (n + 1); }},
    {"top bits of HashKey with a seed",
     [](std::string_view key, uint64_t n) { return TopBits(HashKey(key, 1), n); }},
    {"low bits of HashKey with a seed",
     [](std::string_view key, uint64_t n) { return HashKey(key, 1) & (n - 1); }},
};

// Distinct keys of one length: a counter, and text before it in longer keys.
std::string KeyOfLength(size_t length, uint64_t number) {
  std::string key(length, 'k');
  for (size_t i = 0; i < std::min<size_t>(length, 8); ++i) {
    key[length - 1 - i] = static_cast<char>(number >> (8 * i));
  }
  return key;
}

struct Shard {
  std::vector<std::string> present;
  std::vector<std::string> absent;
};

// The first shard under each rule. Every eleventh key is present.
std::vector<Shard> FirstShards(size_t length, uint64_t num_shards) {
  std::vector<Shard> shards(std::size(kRules));
  for (uint64_t number = 0; number < kNumPresent * num_shards * 11; ++number) {
    const std::string key = KeyOfLength(length, number);
    for (size_t rule = 0; rule < shards.size(); ++rule) {
      if (kRules[rule].shard(key, num_shards) != 0) continue;
      (number % 11 == 0 ? shards[rule].present : shards[rule].absent).push_back(key);
    }
  }
  return shards;
}

// The rate of a filter of few keys varies, and absent keys are a sample.
void ExpectTargetFpr(double num_passed, double num_absent, const std::string& what) {
  const double sigma = std::sqrt(kTargetFpr / num_absent);
  EXPECT_LE(num_passed / num_absent, 1.15 * kTargetFpr + 5 * sigma) << what;
}

// Filters of a shard's keys, of keys below them, and of values that are equal to them.
void ExpectTargetFprs(const Shard& shard, size_t length, const std::string& what) {
  for (const FilterKind kind : AllFilterKinds()) {
    const bool has_prefixes = length > 3 && length <= 24;
    FilterOptions options{.kind = kind, .target_fpr = kTargetFpr};
    FilterBuilder keys = MakeBuilder(options);
    FilterBuilder values = MakeBuilder(options);
    if (has_prefixes) options.prefixes = "lengths:" + std::to_string(length);
    FilterBuilder below = MakeBuilder(options);
    for (const std::string& key : shard.present) {
      keys.AddKey(key);
      values.AddHash(Value::Bytes(key).Hash());
      below.AddKey(key + "/x");
    }
    const OwnedBytes blocks[] = {FinishOk(keys), FinishOk(values), FinishOk(below)};
    const auto expect = [&](const char* filter, auto may_contain) {
      uint64_t passed = 0;
      for (const std::string& key : shard.absent) passed += may_contain(key);
      ExpectTargetFpr(static_cast<double>(passed), static_cast<double>(shard.absent.size()),
                      what + ", " + filter + ", " + std::string(FilterKindName(kind)));
    };
    const Filter of_keys = Filter::Open(blocks[0].view());
    const Filter of_values = Filter::Open(blocks[1].view());
    const Filter of_prefixes = Filter::Open(blocks[2].view());
    expect("keys", [&](const auto& key) { return of_keys.MayContain(key); });
    expect("values", [&](const auto& key) {
      return of_values.points().MayContainHash(Value::Bytes(key).Hash());
    });
    if (!has_prefixes) continue;
    expect("prefixes",
           [&](const auto& key) { return of_prefixes.MayContainRange(key + "/", key + "0"); });
  }
}

void ExpectTargetFprOfShards(size_t length, uint64_t num_shards) {
  const std::vector<Shard> shards = FirstShards(length, num_shards);
  for (size_t rule = 0; rule < shards.size(); ++rule) {
    const std::string what = std::string(kRules[rule].name) + ", " + std::to_string(num_shards) +
                             " shards, keys of " + std::to_string(length) + " bytes";
    ASSERT_GT(shards[rule].present.size(), kNumPresent / 2) << what;
    ExpectTargetFprs(shards[rule], length, what);
  }
}

TEST(SpreadKeysTest, FiltersOfAShardMeetTheirTarget) {
  for (const uint64_t num_shards : {2, 16, 64}) {
    for (const size_t length : {3, 4, 8, 12, 16, 24, 300}) {
      ExpectTargetFprOfShards(length, num_shards);
    }
  }
}

// The hash of keys of 4 to 8 bytes permutes the bytes xor a constant, with either seed.
TEST(SpreadKeysTest, FiltersOfOneOfManyShardsMeetTheirTarget) {
  for (const size_t length : {4, 8}) ExpectTargetFprOfShards(length, 4096);
}

}  // namespace
}  // namespace blocksieve::testing
