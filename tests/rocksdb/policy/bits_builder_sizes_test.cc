#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/param_names.h"

// What the builder tells RocksDB of sizes: it cuts partitions by them.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class BitsBuilderSizes : public ::testing::TestWithParam<double> {
 protected:
  BitsBuilderSizes() {
    FilterPolicyOptions options;
    options.target_fpr = GetParam();
    options.kind = PolicyKind::kBloom;
    policy_ = NewFilterPolicy(options);
    builder_ = NewBuilder(*policy_);
  }

  size_t BuiltSize(size_t num_keys) {
    for (const std::string& key : PresentKeys(KeyShape::kCounter, num_keys)) builder_->AddKey(key);
    return Finish(builder_.get()).contents.size();
  }

  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder_;
};

TEST_P(BitsBuilderSizes, CalculateSpaceIsWhatFinishGives) {
  for (size_t keys = 0; keys < 30000; keys = keys * 5 / 3 + 1) {
    ASSERT_EQ(builder_->CalculateSpace(keys), BuiltSize(keys)) << keys;
  }
}

// What follows in the allocation is filled, and what that saves lets a later filter be smaller. How
// much follows depends on what malloc did before, so sizes are only about as told.
TEST_P(BitsBuilderSizes, CalculateSpaceKnowsOfMemory) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = true;
  builder_ = NewBuilder(*policy_, table_options);
  for (size_t keys = 0; keys < 30000; keys = keys * 5 / 3 + 1) {
    const auto expected = static_cast<double>(builder_->CalculateSpace(keys));
    ASSERT_NEAR(static_cast<double>(BuiltSize(keys)), expected, 0.1 * expected + 128) << keys;
  }
}

TEST_P(BitsBuilderSizes, ApproximateNumEntriesIsTheMostThatFits) {
  for (size_t bytes = 0; bytes < 400000; bytes = bytes * 11 / 10 + 1) {
    const size_t keys = builder_->ApproximateNumEntries(bytes);
    if (keys > 0) {
      ASSERT_LE(builder_->CalculateSpace(keys), bytes) << bytes;
    }
    ASSERT_GT(builder_->CalculateSpace(keys + 1), bytes) << bytes;
  }
}

// tests/PITFALLS.md, 10: sizes near 4 GiB and beyond, arithmetically.
TEST_P(BitsBuilderSizes, HugeSizesDoNotWrapAround) {
  for (const size_t keys : {size_t{1} << 30, size_t{1} << 31, size_t{1} << 32, size_t{1} << 33}) {
    const size_t bytes = builder_->CalculateSpace(keys);
    EXPECT_GT(bytes, keys / 8) << keys;
    EXPECT_NEAR(static_cast<double>(bytes),
                2 * static_cast<double>(builder_->CalculateSpace(keys / 2)), 300)
        << keys;
  }
  const size_t half = builder_->ApproximateNumEntries(size_t{1} << 32);
  const size_t whole = builder_->ApproximateNumEntries(size_t{1} << 33);
  EXPECT_NEAR(static_cast<double>(whole), 2 * static_cast<double>(half), 1000);
}

TEST_P(BitsBuilderSizes, EstimatedFpRateAgreesWithTheTarget) {
  for (const size_t keys : {1000, 10000, 1000000}) {
    const double fpr = builder_->EstimatedFpRate(keys, builder_->CalculateSpace(keys));
    EXPECT_LE(fpr, GetParam()) << keys;
    EXPECT_GE(fpr, GetParam() * 0.7) << keys;
  }
  EXPECT_EQ(builder_->EstimatedFpRate(0, 1000), 0);
}

// The keys of a ribbon have a say in its size: what is told beforehand is close, not exact.
class RibbonBuilderSizes : public ::testing::TestWithParam<double> {};

TEST_P(RibbonBuilderSizes, PartitionsComeOutAsLargeAsAskedFor) {
  FilterPolicyOptions options;
  options.target_fpr = GetParam();
  options.kind = PolicyKind::kRibbon;
  const auto policy = NewFilterPolicy(options);
  const auto builder = NewBuilder(*policy);
  for (size_t bytes = 200; bytes < 200000; bytes = bytes * 3 / 2) {
    const size_t keys = builder->ApproximateNumEntries(bytes);
    ASSERT_GT(keys, 0u) << bytes;
    for (const std::string& key : PresentKeys(KeyShape::kCounter, keys)) builder->AddKey(key);
    const double size = static_cast<double>(Finish(builder.get()).contents.size());
    EXPECT_LE(size, 1.01 * static_cast<double>(bytes) + 8) << keys;
    EXPECT_GE(size, 0.97 * static_cast<double>(bytes) - 8) << keys;
    EXPECT_NEAR(static_cast<double>(builder->CalculateSpace(keys)), size, 0.01 * size + 8);
    const double fpr = builder->EstimatedFpRate(keys, bytes);
    EXPECT_GE(fpr, GetParam() * 0.85) << keys;
    if (bytes > 1000) {  // the estimate leaves room for what the keys decide
      EXPECT_LE(fpr, GetParam() * 1.25) << keys;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RibbonBuilderSizes, ::testing::Values(0.3, 0.01, 1e-5));

INSTANTIATE_TEST_SUITE_P(Targets, BitsBuilderSizes, ::testing::Values(0.5, 0.1, 0.01, 1e-4, 1e-6),
                         ParamNames());

}  // namespace
}  // namespace blocksieve
