// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/filter.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/must.h"
#include "tests/support/statistics.h"

// The FPR of range filters, and their size.

namespace blocksieve::testing {
namespace {

struct Measured {
  double fpr;
  RangeFilterInfo info;
};

/// Measures short empty ranges that begin at a drawn key.
template <class Draw>
Measured Measure(const std::vector<std::string>& keys, double range_fpr, int probes, Draw draw) {
  const std::string block = RangeBlock(keys, AnyEstimate(true, range_fpr));
  const RangeFilterReader reader = RangeFilterReader::Open(AsBytes(block));
  Random random(7);
  int queries = 0;
  int matched = 0;
  while (queries < probes) {
    const std::string begin = draw(&random);
    const std::string end = begin + '\1';
    if (HasKeyIn(keys, begin, end)) continue;
    ++queries;
    matched += reader.Query(begin, end) != RangeAnswer::kNo;
  }
  return {matched / static_cast<double>(queries), DescribeRangeBlock(block)};
}

std::string RandomInt(Random* random) { return BigEndian((*random)()); }

std::string TenantAndTime(Random* random) {
  return Formatted("u%07llu:", (*random)() % 300) +
         Formatted("%013llu", 1'690'000'000'000 + (*random)() % 25'000'000'000);
}

// The number of cells per key is an integer, so that coarse targets are not met exactly.
TEST(RangeRateTest, IsTheTargetsOnUniformInts) {
  const std::vector<std::string> keys = RandomInts(200'000, 1);
  for (const double range_fpr : {0.3, 0.1, 0.015, 0.001}) {
    SCOPED_TRACE(range_fpr);
    const int probes = range_fpr < 0.01 ? 1'000'000 : 200'000;
    const Measured measured = Measure(keys, range_fpr, probes, &RandomInt);
    const double chance = kSigmas / std::sqrt(range_fpr * probes);
    EXPECT_LT(measured.fpr, range_fpr * (1.02 + chance));
    EXPECT_NEAR(measured.fpr * std::ceil(1 / range_fpr), 1, 0.03 + chance);
    // The number of keys that share their cell is random, too.
    const double sigma = std::sqrt(2 / (measured.fpr * static_cast<double>(keys.size())));
    EXPECT_NEAR(measured.info.estimated_fpr / measured.fpr, 1, 0.05 + kSigmas * sigma);
  }
}

TEST(RangeRateTest, DoesNotDependOnTheNumberOfKeys) {
  for (const size_t count : {300, 511, 512, 513, 1'000, 1'100, 1'500, 2'000, 3'000, 20'000}) {
    SCOPED_TRACE(count);
    const std::vector<std::string> keys = RandomInts(count, count);
    EXPECT_NEAR(Measure(keys, 0.015, 200'000, &RandomInt).fpr, 0.015, 0.0015);
    EXPECT_NEAR(Measure(keys, 0.001, 200'000, &RandomInt).fpr, 0.001, 0.0004);
  }
}

// Expects this FPR of ranges that begin where other keys of the same kind would be.
template <class Draw>
void ExpectRate(size_t count, Draw draw, double min_fpr, double max_fpr) {
  Random random(1);
  std::vector<std::string> keys;
  while (keys.size() < count) keys.push_back(draw(&random));
  keys = SortedDistinct(std::move(keys));
  const Measured measured = Measure(keys, 0.015, 100'000, draw);
  EXPECT_GE(measured.fpr, min_fpr);
  EXPECT_LE(measured.fpr, max_fpr);
  // The estimate is a sample of about one range per key.
  const double sigma = std::sqrt(1 / (measured.fpr * static_cast<double>(keys.size())));
  EXPECT_NEAR(measured.info.estimated_fpr / measured.fpr, 1, 0.05 + kSigmas * sigma);
}

TEST(RangeRateTest, IsNearTheTargetForKeysOfUsualKinds) {
  const auto user = [](Random* random) {
    return Formatted("user%016llu", (*random)() % 10'000'000'000'000'000);
  };
  const auto time_and_id = [](Random* random) {
    return Formatted("%013llu-", 1'690'000'000'000 + (*random)() % 25'000'000'000) +
           Formatted("%08llx", (*random)() >> 32);
  };
  const auto uuid = [](Random* random) { return HexUuid(random); };
  // The upper digits take few values at both ends of the window.
  const auto window_over_a_carry = [](Random* random) {
    return BigEndian(1'000 + (*random)() % 200) +
           BigEndian(0x172A0F00000 + (*random)() % (1 << 21));
  };
  ExpectRate(50'000, user, 0.012, 0.018);
  ExpectRate(50'000, window_over_a_carry, 0.008, 0.022);
  ExpectRate(50'000, time_and_id, 0.010, 0.020);
  ExpectRate(50'000, &TenantAndTime, 0.008, 0.022);
  ExpectRate(50'000, uuid, 0.012, 0.018);
}

// The first bytes do not determine the position among the keys of a tenant: its cluster does.
TEST(RangeRateTest, IsNearTheTargetInClusters) {
  Random random(1);
  std::vector<std::string> tenants;
  for (int i = 0; i < 20; ++i) tenants.push_back(HexUuid(&random) + ":");
  const auto draw = [&](Random* from) {
    const std::string& tenant = tenants[(*from)() % tenants.size()];
    return tenant + Formatted("%013llu", 1'690'000'000'000 + (*from)() % 25'000'000'000);
  };
  ExpectRate(2'000, draw, 0.002, 0.03);    // leaves
  ExpectRate(50'000, draw, 0.008, 0.022);  // nodes
}

// Most keys are dense, which narrows the cells of their leaf; but the number of keys of the leaf
// was chosen for keys that share cells in its sparse part.
TEST(RangeRateTest, OfKeysThatAreDenseSomewhere) {
  int num_dense = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    std::vector<std::string> keys;
    for (int i = 0; i < 600; ++i) keys.push_back(BigEndian(0) + BigEndian(random()));
    for (int i = 0; i < 20'000; ++i) keys.push_back(BigEndian(1 + (random() >> 24)));
    for (int cluster = 0; cluster < 20; ++cluster) {
      const uint64_t first = (random() >> (random() % 20)) | uint64_t{1} << 42;
      for (uint64_t i = 0; i < 700; ++i) keys.push_back(BigEndian(first + (random() >> 56)));
    }
    keys = SortedDistinct(std::move(keys));
    const auto in_dense = [](Random* from) { return BigEndian(1 + ((*from)() >> 24)); };
    const Measured measured = Measure(keys, 0.015, 5'000, in_dense);
    EXPECT_LT(measured.fpr, 0.05) << seed;
    num_dense += measured.fpr < 0.02;
  }
  EXPECT_GT(num_dense, 10);
}

TEST(RangeRateTest, BitsPerKeyAreCorrectForManyInts) {
  const std::vector<std::string> keys = RandomInts(400'000, 1);
  for (const double range_fpr : {0.3, 0.2, 0.1, 0.05, 0.015, 0.001, 1e-4, 1e-5}) {
    const std::string block = RangeBlock(keys, AnyEstimate(true, range_fpr));
    const RangeFilterInfo info = DescribeRangeBlock(block);
    const double bits = 8 * static_cast<double>(info.bytes) / static_cast<double>(keys.size());
    EXPECT_NEAR(RangeBitsPerKey(range_fpr) / bits, 1, 0.01) << range_fpr;
  }
}

// Ranges right after one of many consecutive keys.
TEST(KeyFormTest, LetThePointFilterAnswerForNarrowRanges) {
  constexpr int kKeys = 50'000;
  const auto key_of = [](int number) {
    return Formatted("order%010llu", static_cast<uint64_t>(number));
  };
  const auto number_of = [](int i) { return 20 * i + 7 * i % 10; };
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(key_of(number_of(i)));
  const Filter points = Must(Filter::Build(keys, {.ranges = true}));
  const RangeFilterReader reader = RangeFilterReader::Open(points.bytes());
  constexpr auto kNo = RangeFilterReader::Answer::kNo;
  int alone = 0;
  int together = 0;
  for (int i = 0; i < kKeys; ++i) {
    const std::string& key = keys[static_cast<size_t>(i)];
    const std::string end = key_of(number_of(i) + 6);  // five possible keys
    alone += reader.Query(key + '\0', end) != kNo;
    together += reader.Query(key + '\0', end, &points.points()) != kNo;
    ASSERT_NE(reader.Query(key, end, &points.points()), kNo);
  }
  EXPECT_EQ(alone, kKeys);
  EXPECT_NEAR(together, kKeys * 0.049, kKeys * 0.01);
}

}  // namespace
}  // namespace blocksieve::testing
