#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"

// The C++ entry point.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

FilterPolicyOptions WithTarget(double target_fpr) {
  FilterPolicyOptions options;
  options.target_fpr = target_fpr;
  return options;
}

TEST(NewFilterPolicy, AcceptsTheWholeRangeWithItsEnds) {
  for (const double target : {1e-7, 1.5e-6, 1e-4, 0.01, 0.3, 0.5}) {
    rocksdb::Status status = rocksdb::Status::Corruption();
    const auto policy = NewFilterPolicy(WithTarget(target), &status);
    ASSERT_NE(policy, nullptr) << target;
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_STREQ(policy->Name(), "blocksieve");
    EXPECT_STREQ(policy->CompatibilityName(), "rocksdb.BuiltinBloomFilter");
  }
}

// Why there is no policy.
std::string ProblemOf(const FilterPolicyOptions& options) {
  rocksdb::Status status;
  EXPECT_EQ(NewFilterPolicy(options, &status), nullptr);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  return status.ToString();
}

TEST(NewFilterPolicy, RefusesWhatNoLayoutReaches) {
  for (const double target :
       {0.0, -0.01, 1.0, 2.0, std::nextafter(0.5, 1), std::nextafter(1e-7, 0),
        std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(ProblemOf(WithTarget(target)),
                AllOf(HasSubstr("target_fpr is "), HasSubstr("; allowed is 1e-07 to 0.5")));
  }
  // A value just outside is not shown as the bound.
  EXPECT_THAT(ProblemOf(WithTarget(std::nextafter(0.5, 1))), Not(HasSubstr("is 0.5;")));
}

TEST(NewFilterPolicy, RefusesWhatNoTreeIsGiven) {
  EXPECT_THAT(ProblemOf({.wasted_reads = 0}),
              HasSubstr("wasted_reads is 0; allowed is 1e-06 to 100"));
  EXPECT_THAT(ProblemOf({.bits_per_key = 33}),
              HasSubstr("bits_per_key is 33; allowed is 0.1 to 32"));
  EXPECT_THAT(ProblemOf({.bits_per_key = std::nan("")}), HasSubstr("bits_per_key is nan"));
}

TEST(NewFilterPolicy, RefusesToBePreciseInTwoWays) {
  EXPECT_THAT(ProblemOf({.target_fpr = 0.01, .wasted_reads = 0.5}),
              HasSubstr("target_fpr=0.01, wasted_reads=0.5 exclude each other; allowed is one"));
  EXPECT_NE(NewFilterPolicy({.wasted_reads = 100}), nullptr);
  EXPECT_NE(NewFilterPolicy({.bits_per_key = 0.1}), nullptr);
  EXPECT_NE(NewFilterPolicy({}), nullptr);
}

TEST(NewFilterPolicy, RefusesAKindThatIsNone) {
  EXPECT_THAT(ProblemOf({.kind = static_cast<PolicyKind>(77)}), HasSubstr("kind"));
}

TEST(NewFilterPolicy, WithoutAPlaceForTheReasonItIsOnStderr) {
  const std::string loud = StderrOf([] { EXPECT_EQ(NewFilterPolicy(WithTarget(3)), nullptr); });
  EXPECT_NE(loud.find("target_fpr is 3; allowed is 1e-07 to 0.5"), std::string::npos) << loud;
}

// tests/PITFALLS.md, 34: the reader sits in the block cache and may outlive the policy.
TEST(NewFilterPolicy, ReadersOutliveThePolicy) {
  const auto keys = PresentKeys(KeyShape::kUrl, 1000);
  const auto absent = AbsentKeys(KeyShape::kUrl, 1000);
  BuiltFilter filter;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
  {
    const auto policy = NewFilterPolicy(WithTarget(0.01));
    filter = BuildFilter(*policy, keys);
    reader = NewReader(*policy, filter.contents);
  }
  EXPECT_EQ(CountMatches(reader.get(), keys), keys.size());
  EXPECT_LT(CountMatches(reader.get(), absent), 50u);
}

// And so may a builder: RocksDB keeps the policy alive meanwhile, but the context not.
TEST(NewFilterPolicy, BuildersKeepNothingOfTheContext) {
  const auto keys = PresentKeys(KeyShape::kUrl, 1000);
  const auto policy = NewFilterPolicy(WithTarget(0.01));
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder;
  {
    auto table_options = std::make_unique<rocksdb::BlockBasedTableOptions>();
    table_options->detect_filter_construct_corruption = true;
    table_options->optimize_filters_for_memory = true;
    builder = NewBuilder(*policy, *table_options);
  }
  for (const std::string& key : keys) builder->AddKey(key);
  const BuiltFilter filter = Finish(builder.get());
  EXPECT_TRUE(builder->MaybePostVerify(filter.contents).ok());
  EXPECT_EQ(CountMatches(*policy, filter, keys), keys.size());
}

}  // namespace
}  // namespace blocksieve
