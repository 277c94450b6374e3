#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/hash.h"
#include "blocksieve/internal/kernels.h"
#include "tests/core/filter/test_filters.h"

// What every kind of filter owes its users, on every kernel.

namespace blocksieve::testing {
namespace {

using FilterConformance = ::testing::TestWithParam<FilterKind>;

INSTANTIATE_TEST_SUITE_P(Kinds, FilterConformance, ::testing::ValuesIn(BuildableKinds()),
                         [](const auto& info) { return std::string(FilterKindName(info.param)); });

TEST_P(FilterConformance, EveryKeyMatchesForEveryNumberOfKeys) {
  FilterBuilder builder = MakeBuilder(GetParam());
  uint64_t rejected = 0;
  for (uint64_t n = 1; n <= 2000; n += n < 300 ? 1 : 37) {
    AddKeys(&builder, n);
    ASSERT_EQ(builder.num_keys(), n);
    const OwnedBytes block = FinishOk(builder);
    const FilterReader reader = FilterReader::Open(block.view());
    ASSERT_EQ(reader.state(), FilterReader::State::kReady);
    for (uint64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(reader.MayMatch(PresentKey(i))) << "key " << i << " of " << n;
      rejected += !reader.MayMatch(AbsentKey(i));
    }
  }
  EXPECT_GT(rejected, 0u) << "a filter that never says no hides every bug";
}

TEST_P(FilterConformance, EveryKeyMatchesAtEveryTarget) {
  for (const double target : {0.5, 0.3, 0.1, 0.02, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
    const OwnedBytes block = BuildBlock(GetParam(), target, 5000);
    for (const Kernel kernel : internal::AvailableKernels()) {
      const FilterReader reader = FilterReader::Open(block.view(), kernel);
      for (uint64_t i = 0; i < 5000; ++i) ASSERT_TRUE(reader.MayMatch(PresentKey(i))) << target;
    }
  }
}

// Absent keys of one filter are Bernoulli trials; between filters the rate varies a little too,
// which five standard deviations and the table's steps leave room for.
TEST_P(FilterConformance, MeasuredRateIsAtTheTarget) {
  for (const double target : {0.3, 0.1, 0.01, 1e-3, 1e-4}) {
    const uint64_t num_keys = 200'000;
    const uint64_t probes = target < 1e-3 ? 8'000'000 : 1'000'000;
    const OwnedBytes block = BuildBlock(GetParam(), target, num_keys);
    const FilterReader reader = FilterReader::Open(block.view());
    uint64_t positives = 0;
    for (uint64_t i = 0; i < probes; ++i) positives += reader.MayMatchHash(HashKey(AbsentKey(i)));
    const double measured = static_cast<double>(positives) / static_cast<double>(probes);
    const double sigma = std::sqrt(target / static_cast<double>(probes));
    EXPECT_LE(measured, 1.01 * target + 5 * sigma) << target;
    EXPECT_GE(measured, 0.85 * target - 5 * sigma) << target;
  }
}

TEST_P(FilterConformance, RateOfFewKeysIsNeverAboveTheTarget) {
  for (const double target : {0.3, 0.01}) {
    for (const uint64_t n : {1, 2, 3, 7, 20, 100, 1000}) {
      const uint64_t probes = 200'000;
      uint64_t positives = 0;
      // Several filters, because a single small one may be lucky or not.
      for (uint64_t round = 0; round < 10; ++round) {
        FilterBuilder builder = MakeBuilder(GetParam(), target);
        for (uint64_t i = 0; i < n; ++i) builder.AddKey(PresentKey(round << 40 | i));
        const OwnedBytes block = FinishOk(builder);
        const FilterReader reader = FilterReader::Open(block.view());
        for (uint64_t i = 0; i < probes / 10; ++i) positives += reader.MayMatch(AbsentKey(i));
      }
      const double measured = static_cast<double>(positives) / static_cast<double>(probes);
      // The spread between small filters is at most that of a share `target` of ten samples of n
      // keys.
      const double sigma = std::sqrt(target / static_cast<double>(probes) +
                                     target * target / (10.0 * static_cast<double>(n)));
      EXPECT_LE(measured, target + 5 * sigma) << n << " keys at " << target;
    }
  }
}

TEST_P(FilterConformance, NoKeysMatchNothing) {
  FilterBuilder builder = MakeBuilder(GetParam());
  const OwnedBytes block = FinishOk(builder);
  EXPECT_GE(block.size, 6u) << "RocksDB takes shorter ones for \"no\", ours must be \"may match\"";
  const FilterReader reader = FilterReader::Open(block.view());
  EXPECT_EQ(reader.state(), FilterReader::State::kEmpty);
  EXPECT_FALSE(reader.MayMatch(""));
  EXPECT_FALSE(reader.MayMatch("a"));
}

// pitfalls 1 and 2: an empty key is a key, also first and also after a Finish.
TEST_P(FilterConformance, EmptyKeyIsAKey) {
  FilterBuilder builder = MakeBuilder(GetParam());
  for (int round = 0; round < 2; ++round) {
    builder.AddKey("");
    EXPECT_EQ(builder.num_keys(), 1u);
    const OwnedBytes block = FinishOk(builder);
    EXPECT_TRUE(FilterReader::Open(block.view()).MayMatch(""));
    EXPECT_EQ(builder.num_keys(), 0u);
  }
}

TEST_P(FilterConformance, HashZeroIsAHash) {
  FilterBuilder builder = MakeBuilder(GetParam());
  for (int round = 0; round < 2; ++round) {
    builder.AddHash(0);
    EXPECT_EQ(builder.num_keys(), 1u);
    builder.AddHash(7);
    builder.AddHash(0);
    EXPECT_EQ(builder.num_keys(), 2u);
    const OwnedBytes block = FinishOk(builder);
    EXPECT_TRUE(FilterReader::Open(block.view()).MayMatchHash(0));
  }
}

// pitfall 4: whole keys and prefixes alternate.
TEST_P(FilterConformance, AlternatingPrefixesAreCountedOnce) {
  FilterBuilder builder = MakeBuilder(GetParam());
  for (const char* key : {"a1", "a", "a2", "a", "a3", "a", "a3", "a", "b1", "b"}) {
    builder.AddKey(key);
  }
  EXPECT_EQ(builder.num_keys(), 6u);
  const OwnedBytes block = FinishOk(builder);
  const FilterReader reader = FilterReader::Open(block.view());
  for (const char* key : {"a", "a1", "a2", "a3", "b", "b1"}) EXPECT_TRUE(reader.MayMatch(key));
}

// pitfall 7: duplicates that are not adjacent.
TEST_P(FilterConformance, ScatteredDuplicatesMatch) {
  FilterBuilder builder = MakeBuilder(GetParam());
  for (uint64_t i = 0; i < 100'000; ++i) builder.AddKey(PresentKey(i % 1000));
  const OwnedBytes block = FinishOk(builder);
  const FilterReader reader = FilterReader::Open(block.view());
  ASSERT_EQ(reader.state(), FilterReader::State::kReady);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(reader.MayMatch(PresentKey(i)));
}

// pitfall 11: no signed characters, no terminators.
TEST_P(FilterConformance, KeysAreBytes) {
  std::vector<std::string> keys;
  for (int byte = 0; byte < 256; ++byte) {
    for (const size_t length : {1, 3, 8, 16, 17, 100, 240, 241, 1000}) {
      keys.emplace_back(length, static_cast<char>(byte));
    }
  }
  FilterBuilder builder = MakeBuilder(GetParam(), 1e-4);
  for (const std::string& key : keys) builder.AddKey(key);
  const OwnedBytes block = FinishOk(builder);
  for (const Kernel kernel : internal::AvailableKernels()) {
    const FilterReader reader = FilterReader::Open(block.view(), kernel);
    for (const std::string& key : keys) ASSERT_TRUE(reader.MayMatch(key));
  }
}

TEST_P(FilterConformance, BatchesAnswerLikeSingleProbes) {
  const OwnedBytes block = BuildBlock(GetParam(), 0.1, 3000);
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 150; ++i) keys.push_back(KeyNumber(i));
  keys.push_back(std::string(300, 'x'));
  for (const Kernel kernel : internal::AvailableKernels()) {
    const FilterReader reader = FilterReader::Open(block.view(), kernel);
    for (size_t size = 0; size <= keys.size(); ++size) {
      std::vector<std::string_view> views(keys.begin(), keys.begin() + static_cast<long>(size));
      std::vector<uint64_t> hashes;
      for (const std::string_view key : views) hashes.push_back(HashKey(key));
      // One more answer than keys, to see that it is left alone.
      auto answers = std::make_unique<bool[]>(size + 1);
      for (const bool before : {false, true}) {
        std::fill_n(answers.get(), size + 1, before);
        reader.MayMatch(views, answers.get());
        for (size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], reader.MayMatch(views[i]));
        ASSERT_EQ(answers[size], before);
        std::fill_n(answers.get(), size + 1, before);
        reader.MayMatchHashes(hashes, answers.get());
        for (size_t i = 0; i < size; ++i) ASSERT_EQ(answers[i], reader.MayMatchHash(hashes[i]));
        ASSERT_EQ(answers[size], before);
      }
    }
  }
}

TEST_P(FilterConformance, AnyAlignmentWillDo) {
  const OwnedBytes block = BuildBlock(GetParam(), 0.01, 2000);
  const FilterReader aligned = FilterReader::Open(block.view());
  for (size_t shift = 0; shift < 64; ++shift) {
    // Exactly as long as needed, so that a sanitizer sees a read beyond the end.
    std::vector<uint8_t> moved(shift);
    moved.insert(moved.end(), block.view().begin(), block.view().end());
    moved.shrink_to_fit();
    for (const Kernel kernel : internal::AvailableKernels()) {
      const FilterReader reader = FilterReader::Open(ByteView(moved).subspan(shift), kernel);
      for (uint64_t i = 0; i < 4000; ++i) {
        ASSERT_EQ(reader.MayMatch(KeyNumber(i)), aligned.MayMatch(KeyNumber(i)));
      }
    }
  }
}

// Kernels hash keys of one length eight at a time, others one by one.
TEST_P(FilterConformance, BatchesOfAnyLengthsAnswerLikeSingleProbes) {
  struct Slice {
    const char* data;
    size_t size;
  };
  std::mt19937_64 random(5);
  for (const double target : {0.3, 0.01, 1e-5}) {
    FilterBuilder builder = MakeBuilder(
        {.kind = GetParam(), .target_fpr = target, .hash_seed = target < 0.1 ? random() : 0});
    std::vector<std::string> keys;
    for (size_t length = 0; length < 135; ++length) {
      for (int i = 0; i < 25; ++i) {
        std::string key(length, '\0');
        for (char& c : key) c = static_cast<char>(random());
        if (i % 2 == 0) builder.AddKey(key);
        keys.push_back(std::move(key));
      }
    }
    const OwnedBytes block = FinishOk(builder);
    for (const bool shuffled : {false, true}) {
      if (shuffled) std::shuffle(keys.begin(), keys.end(), random);
      std::vector<Slice> slices;
      for (const std::string& key : keys) slices.push_back({key.data(), key.size()});
      std::vector<const Slice*> pointers;
      for (const Slice& slice : slices) pointers.push_back(&slice);
      for (const Kernel kernel : internal::AvailableKernels()) {
        const FilterReader reader = FilterReader::Open(block.view(), kernel);
        size_t count = 0;
        for (size_t first = 0; first < keys.size(); first += count, count = (count + 1) % 90) {
          count = std::min(count, keys.size() - first);
          // One more, which must stay as it is.
          const auto may_match = std::make_unique<bool[]>(count + 1);
          const bool may_have_empty =
              reader.MayMatch(internal::KeyList(&pointers[first]), count, may_match.get());
          EXPECT_FALSE(may_match[count]);
          for (size_t i = 0; i < count; ++i) {
            const std::string& key = keys[first + i];
            ASSERT_EQ(may_match[i], reader.MayMatch(key))
                << KernelName(kernel) << ", key of " << key.size() << " bytes, " << i << " of "
                << count;
            EXPECT_TRUE(may_have_empty || !key.empty());
          }
        }
      }
    }
  }
}

TEST_P(FilterConformance, SeedIsStoredAndUsed) {
  const FilterOptions options{.kind = GetParam(), .hash_seed = 0x123456789abcdef};
  const OwnedBytes block = BuildBlock(options, 1000);
  const FilterReader reader = FilterReader::Open(block.view());
  EXPECT_EQ(reader.hash_seed(), options.hash_seed);
  uint64_t positives_of_other_seed = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(reader.MayMatch(PresentKey(i)));
    positives_of_other_seed += reader.MayMatchHash(HashKey(PresentKey(i)));
  }
  EXPECT_LT(positives_of_other_seed, 100u);
}

// The builder's promise of a size, and its inverse, by which RocksDB cuts partitions.
TEST_P(FilterConformance, PromisedSizeIsTheRealSize) {
  for (const double target : {0.3, 0.01, 1e-5}) {
    FilterBuilder builder = MakeBuilder(GetParam(), target);
    for (const uint64_t n : {0, 1, 10, 127, 128, 1000, 5000, 20'000, 300'000}) {
      AddKeys(&builder, n);
      const uint64_t promised = builder.BlockBytes(n);
      const double real = static_cast<double>(FinishOk(builder).size);
      EXPECT_NEAR(real, static_cast<double>(promised), 0.01 * real + 8) << n;
    }
    for (uint64_t bytes = 0; bytes < 100'000; bytes += 1 + bytes / 7) {
      const uint64_t most = builder.MaxKeys(bytes);
      if (most > 0) {
        EXPECT_LE(builder.BlockBytes(most), bytes);
      }
      EXPECT_GT(builder.BlockBytes(most + most / 50 + 1), bytes) << "two percent more would fit";
    }
  }
}

TEST_P(FilterConformance, DescriptionTellsWhatWasBuilt) {
  const OwnedBytes block = BuildBlock(GetParam(), 0.01, 12'345);
  const Result<FilterInfo> info = DescribeFilterBlock(block.view());
  ASSERT_TRUE(info.ok()) << info.status().message();
  EXPECT_EQ(info->kind, GetParam());
  EXPECT_EQ(info->num_keys, 12'345u);
  EXPECT_EQ(info->block_bytes, block.size);
  EXPECT_LT(info->payload_bytes, block.size);
  EXPECT_LE(PredictedFpr(*info), 0.01);
  EXPECT_GT(PredictedFpr(*info), 0.0085);
  EXPECT_TRUE(VerifyFilterBlock(block.view()).ok());
}

}  // namespace
}  // namespace blocksieve::testing
