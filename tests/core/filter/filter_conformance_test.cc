// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "blocksieve/bytes.h"
#include "blocksieve/hash.h"
#include "blocksieve/sizing.h"
#include "lib/base/kernels.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"

// Contracts of every kind of filter, on every kernel.

namespace blocksieve::testing {
namespace {

class FilterConformanceTest : public ::testing::TestWithParam<FilterKind> {
 protected:
  static OwnedBytes Build(const std::vector<std::string>& keys, double target_fpr) {
    FilterBuilder builder = MakeBuilder({.kind = GetParam(), .target_fpr = target_fpr});
    for (const std::string& key : keys) builder.AddKey(key);
    return FinishOk(builder);
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, FilterConformanceTest, ::testing::ValuesIn(AllFilterKinds()),
                         [](const auto& info) { return std::string(FilterKindName(info.param)); });

TEST_P(FilterConformanceTest, EveryKeyMatchesForEveryNumberOfKeys) {
  uint64_t rejected = 0;
  for (const double target_fpr : {0.5, 0.01, 1.0 / 256, 1e-4, 1e-7}) {
    for (uint64_t n = 1; n <= 2000; n += n < 300 ? 1 : 37) {
      SCOPED_TRACE(std::to_string(n) + " keys at " + std::to_string(target_fpr));
      const OwnedBytes block = BuildBlock({.kind = GetParam(), .target_fpr = target_fpr}, n);
      ASSERT_TRUE(Filter::Verify(block.view()).ok());
      const FilterDescription info = Must(DescribeFilter(block.view()));
      ASSERT_EQ(info.kind, GetParam());
      ASSERT_EQ(info.block_bytes, block.size);
      ASSERT_EQ(info.num_keys, n);
      ASSERT_LE(info.predicted_fpr, target_fpr * 1.000001);
      const Filter reader = Filter::Open(block.view());
      ASSERT_EQ(reader.state(), Filter::State::kReady);
      for (uint64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(reader.MayContain(PresentKey(i))) << i;
        rejected += !reader.MayContain(AbsentKey(i));
      }
    }
  }
  EXPECT_GT(rejected, 0u) << "a filter that never says no hides every bug";
}

// Absent keys of one filter are Bernoulli trials. The FPR also varies a little between filters,
// which five standard deviations and the table's steps leave room for.
TEST_P(FilterConformanceTest, MeasuredRateIsAtTheTarget) {
  for (const double target : {0.3, 0.01, 1e-3, 1e-4}) {
    const uint64_t probes = target < 1e-3 ? 4'000'000 : 1'000'000;
    const OwnedBytes block = BuildBlock({.kind = GetParam(), .target_fpr = target}, 200'000);
    EXPECT_GT(Must(DescribeFilter(block.view())).predicted_fpr, 0.85 * target);
    const Filter reader = Filter::Open(block.view());
    uint64_t positives = 0;
    for (uint64_t i = 0; i < probes; ++i)
      positives += reader.points().MayContainHash(HashKey(AbsentKey(i)));
    const double measured = static_cast<double>(positives) / static_cast<double>(probes);
    const double sigma = std::sqrt(target / static_cast<double>(probes));
    EXPECT_LE(measured, 1.01 * target + 5 * sigma) << target;
    EXPECT_GE(measured, 0.85 * target - 5 * sigma) << target;
  }
}

TEST_P(FilterConformanceTest, RateOfFewKeysIsNeverAboveTheTarget) {
  for (const double target : {0.3, 0.01}) {
    for (const uint64_t n : {1, 2, 3, 7, 20, 100, 1000}) {
      const uint64_t probes = 200'000;
      uint64_t positives = 0;
      // Several filters, because the FPR of a single small one varies.
      for (uint64_t round = 0; round < 10; ++round) {
        std::vector<std::string> keys;
        for (uint64_t i = 0; i < n; ++i) keys.push_back(PresentKey(round << 40 | i));
        const OwnedBytes block = Build(keys, target);
        const Filter reader = Filter::Open(block.view());
        for (uint64_t i = 0; i < probes / 10; ++i) positives += reader.MayContain(AbsentKey(i));
      }
      const double measured = static_cast<double>(positives) / static_cast<double>(probes);
      // The deviation between small filters is at most that of a share `target` of ten samples of n
      // keys.
      const double sigma = std::sqrt(target / static_cast<double>(probes) +
                                     target * target / (10.0 * static_cast<double>(n)));
      EXPECT_LE(measured, target + 5 * sigma) << n << " keys at " << target;
    }
  }
}

struct LostKeys {
  const char* name;
  std::vector<std::string> keys;
  uint64_t num_counted;
};

// Keys that other libraries' filters have lost or counted twice (tests/PITFALLS.md, failures 1, 2,
// 4, 7 and 11).
std::vector<LostKeys> AllLostKeys() {
  std::vector<std::string> scattered;
  for (uint64_t i = 0; i < 100'000; ++i) scattered.push_back(PresentKey(i % 1000));
  std::vector<std::string> of_bytes;
  for (int byte = 0; byte < 256; ++byte) {
    for (const size_t length : {1, 3, 8, 16, 17, 100, 240, 241, 1000}) {
      of_bytes.emplace_back(length, static_cast<char>(byte));
    }
  }
  return {{"an empty key", {""}, 1},
          {"alternating prefixes", {"a1", "a", "a2", "a", "a3", "a", "a3", "a", "b1", "b"}, 6},
          {"duplicates that are not adjacent", scattered, 100'000},
          {"all bytes, no terminators", of_bytes, of_bytes.size()}};
}

TEST_P(FilterConformanceTest, KeysThatOthersLostMatch) {
  for (const auto& [name, keys, num_counted] : AllLostKeys()) {
    SCOPED_TRACE(name);
    const OwnedBytes block = Build(keys, 1e-4);
    for (const Kernel kernel : internal::AvailableKernels()) {
      const Filter reader = internal::OpenFilter(block.view(), kernel);
      ASSERT_EQ(reader.state(), Filter::State::kReady);
      for (const std::string& key : keys) ASSERT_TRUE(reader.MayContain(key));
    }
  }
}

TEST_P(FilterConformanceTest, KeysInARowCountOnceAndNoneIsKept) {
  FilterBuilder builder = MakeBuilder({.kind = GetParam()});
  for (const auto& [name, keys, num_counted] : AllLostKeys()) {
    SCOPED_TRACE(name);
    std::string before;
    for (const bool again : {false, true}) {
      for (const std::string& key : keys) builder.AddKey(key);
      EXPECT_EQ(builder.num_keys(), num_counted);
      const std::string block = Copy(FinishOk(builder));
      EXPECT_EQ(builder.num_keys(), 0u);
      EXPECT_TRUE(!again || block == before);
      before = block;
    }
  }
  for (const uint64_t hash : {0, 0, 7, 7, 0}) builder.AddHash(hash);
  EXPECT_EQ(builder.num_keys(), 2u);
  const OwnedBytes block = FinishOk(builder);
  EXPECT_TRUE(Filter::Open(block.view()).points().MayContainHash(0));
}

TEST_P(FilterConformanceTest, BlocksMayHaveAnyAlignment) {
  const OwnedBytes block = BuildBlock({.kind = GetParam()}, 2000);
  const Filter aligned = Filter::Open(block.view());
  for (size_t shift = 0; shift < 64; ++shift) {
    // Exactly as long as needed, so that a sanitizer detects a read past the end.
    std::vector<uint8_t> moved(shift);
    moved.insert(moved.end(), block.view().begin(), block.view().end());
    moved.shrink_to_fit();
    for (const Kernel kernel : internal::AvailableKernels()) {
      const Filter reader = internal::OpenFilter(ByteView(moved).subspan(shift), kernel);
      for (uint64_t i = 0; i < 4000; ++i) {
        ASSERT_EQ(reader.MayContain(KeyNumber(i)), aligned.MayContain(KeyNumber(i)));
      }
    }
  }
}

// Each function for a batch. The answer after the last must not be written.
void ExpectAnswersOfSingleProbes(const Filter& reader, std::span<const std::string> keys) {
  struct Slice {
    const char* data;
    size_t size;
  };
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<Slice> slices;
  std::vector<const Slice*> pointers;
  std::vector<uint64_t> hashes;
  for (const std::string& key : keys) {
    slices.push_back({key.data(), key.size()});
    hashes.push_back(HashKey(key));
  }
  for (const Slice& slice : slices) pointers.push_back(&slice);
  const auto answers = std::make_unique<bool[]>(keys.size() + 1);
  for (const bool before : {false, true}) {
    const auto expect = [&](auto probe) {
      std::fill_n(answers.get(), keys.size() + 1, before);
      probe();
      for (size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(answers[i], reader.MayContain(keys[i])) << i << " of " << keys.size();
      }
      ASSERT_EQ(answers[keys.size()], before);
    };
    expect([&] { reader.points().MayContain(views, answers.get()); });
    expect([&] { reader.points().MayContainHashes(hashes, answers.get()); });
    bool may_have_empty = false;
    expect([&] {
      may_have_empty =
          reader.points().MayContain(KeyList(pointers.data()), keys.size(), answers.get());
    });
    EXPECT_TRUE(may_have_empty || std::ranges::none_of(keys, &std::string::empty));
  }
}

// Keys of every length, every other one in the filter. Kernels hash keys of equal length eight at a
// time, and others one by one.
TEST_P(FilterConformanceTest, BatchesOfAnyLengthsAnswerLikeSingleProbes) {
  std::mt19937_64 random(5);
  for (const double target : {0.3, 0.01, 1e-5}) {
    std::vector<std::string> members;
    std::vector<std::string> keys;
    for (size_t length = 0; length < 135; ++length) {
      for (int i = 0; i < 25; ++i) {
        std::string key(length, '\0');
        for (char& c : key) c = static_cast<char>(random());
        if (i % 2 == 0) members.push_back(key);
        keys.push_back(std::move(key));
      }
    }
    const OwnedBytes block = Build(members, target);
    for (const bool shuffled : {false, true}) {
      if (shuffled) std::shuffle(keys.begin(), keys.end(), random);
      size_t count = 0;
      for (size_t first = 0; first < keys.size(); first += count, count = (count + 1) % 90) {
        count = std::min(count, keys.size() - first);
        const auto batch = std::span<const std::string>(keys).subspan(first, count);
        for (const Kernel kernel : internal::AvailableKernels()) {
          SCOPED_TRACE(KernelName(kernel));
          ExpectAnswersOfSingleProbes(internal::OpenFilter(block.view(), kernel), batch);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// The builder's predicted size, and its inverse, with which RocksDB cuts partitions.
TEST_P(FilterConformanceTest, PromisedSizeIsTheRealSize) {
  for (const double target : {0.3, 0.01, 1e-5}) {
    FilterBuilder builder = MakeBuilder({.kind = GetParam(), .target_fpr = target});
    for (const uint64_t n : {0, 1, 10, 127, 128, 1000, 5000, 20'000, 300'000}) {
      AddKeys(&builder, n);
      const uint64_t promised = BlockBytes(builder.layout(), n);
      const double real = static_cast<double>(FinishOk(builder).size);
      EXPECT_NEAR(real, static_cast<double>(promised), 0.01 * real + 8) << n;
    }
    for (uint64_t bytes = 0; bytes < 100'000; bytes += 1 + bytes / 7) {
      const uint64_t most = MaxBlockKeys(builder.layout(), bytes);
      if (most > 0) {
        EXPECT_LE(BlockBytes(builder.layout(), most), bytes);
      }
      EXPECT_GT(BlockBytes(builder.layout(), most + most / 50 + 1), bytes)
          << "two percent more would fit";
    }
  }
}

// Filters of random sizes and FPRs are probed for every key and for as many absent keys, on every
// kernel, one by one and in batches. With BLOCKSIEVE_LONG_TESTS a billion answers.

// Log-uniform, so that small filters are as frequent as large ones.
double LogUniform(std::mt19937_64* random, double low, double high) {
  std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
  return std::exp(exponent(*random));
}

// The filter's answers for `hashes`, in a batch and one by one.
std::vector<char> Answers(const Filter& reader, const std::vector<uint64_t>& hashes) {
  const auto batch = std::make_unique<bool[]>(hashes.size());
  reader.points().MayContainHashes(hashes, batch.get());
  std::vector<char> answers(batch.get(), batch.get() + hashes.size());
  const auto single = [&](uint64_t hash) -> char { return reader.points().MayContainHash(hash); };
  EXPECT_TRUE(std::ranges::equal(answers, hashes, {}, {}, single));
  return answers;
}

TEST_P(FilterConformanceTest, NoKeyIsEverDeniedAndAllKernelsAgree) {
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
  uint64_t present_answers = 0;
  uint64_t absent_answers = 0;
  uint64_t denied = 0;
  const uint64_t wanted = testing::LongTests() ? 1'000'000'000 : 10'000'000;
  while (present_answers + absent_answers < wanted) {
    const double target_fpr = LogUniform(&random, kMinTargetFpr, kMaxTargetFpr);
    FilterBuilder builder = MakeBuilder({.kind = GetParam(), .target_fpr = target_fpr});
    std::vector<uint64_t> present(static_cast<size_t>(LogUniform(&random, 1, 2e6)));
    std::vector<uint64_t> absent(present.size());
    for (uint64_t& hash : present) hash = random();
    for (uint64_t& hash : absent) hash = random();
    for (const uint64_t hash : present) builder.AddHash(hash);
    const OwnedBytes block = FinishOk(builder);
    std::vector<char> expected;
    for (const Kernel kernel : internal::AvailableKernels()) {
      const Filter reader = internal::OpenFilter(block.view(), kernel);
      ASSERT_EQ(reader.state(), Filter::State::kReady);
      for (const char answer : Answers(reader, present)) {
        ASSERT_TRUE(answer) << KernelName(kernel) << ", " << present.size() << " keys, target "
                            << target_fpr;
      }
      const std::vector<char> answers = Answers(reader, absent);
      if (expected.empty()) expected = answers;
      ASSERT_EQ(answers, expected) << KernelName(kernel);
      present_answers += 2 * present.size();
      absent_answers += 2 * absent.size();
    }
    for (const char answer : expected) denied += answer == 0;
  }
  EXPECT_GT(denied, 0u) << "a filter that never says no hides every bug";
  std::printf("  %llu answers for keys, all \"may match\"; %llu for others\n",
              static_cast<unsigned long long>(present_answers),
              static_cast<unsigned long long>(absent_answers));
}

}  // namespace
}  // namespace blocksieve::testing
