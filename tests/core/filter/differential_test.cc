#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "tests/core/filter/test_filters.h"
#include "tests/support/environment.h"

// Filters of random sizes and FPRs are probed for every key and for as many absent keys, on every
// kernel, one by one and in batches. With BLOCKSIEVE_LONG_TESTS a billion answers.

namespace blocksieve::testing {
namespace {

class DifferentialTest : public ::testing::TestWithParam<FilterKind> {
 protected:
  static uint64_t AnswersWanted() { return testing::LongTests() ? 1'000'000'000 : 20'000'000; }

  // Log-uniform, so that small filters are as frequent as large ones.
  static double LogUniform(std::mt19937_64* random, double low, double high) {
    std::uniform_real_distribution<double> exponent(std::log(low), std::log(high));
    return std::exp(exponent(*random));
  }

  // The filter's answers for `hashes`, checked against those of single probes.
  static std::vector<char> Answers(const Filter& reader, const std::vector<uint64_t>& hashes) {
    std::vector<char> answers(hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i) answers[i] = reader.MayContainHash(hashes[i]);
    const auto batch = std::make_unique<bool[]>(hashes.size());
    reader.MayContainHashes(hashes, batch.get());
    for (size_t i = 0; i < hashes.size(); ++i) {
      if (batch[i] != static_cast<bool>(answers[i])) {
        ADD_FAILURE() << "batch and single probe differ for hash " << hashes[i];
        break;
      }
    }
    return answers;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, DifferentialTest, ::testing::ValuesIn(BuildableKinds()),
                         [](const auto& info) { return std::string(FilterKindName(info.param)); });

TEST_P(DifferentialTest, NoKeyIsEverDeniedAndAllKernelsAgree) {
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
  uint64_t present_answers = 0;
  uint64_t absent_answers = 0;
  uint64_t denied = 0;
  while (present_answers + absent_answers < AnswersWanted()) {
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
