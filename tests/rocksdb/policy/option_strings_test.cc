#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/built_filter.h"
#include "tests/support/key_sets.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// Refused strings: also bad_input_test.cc. Meaning of strings: option_promises_test.cc.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using rocksdb::ConfigOptions;
using rocksdb::FilterPolicy;
using ::testing::HasSubstr;

class OptionStrings : public ::testing::Test {
 protected:
  OptionStrings() { blocksieve_rocksdb_register(); }

  static rocksdb::Status Create(const std::string& text,
                                std::shared_ptr<const FilterPolicy>* policy,
                                const ConfigOptions& config = StrictConfig()) {
    policy->reset();
    return FilterPolicy::CreateFromString(config, text, policy);
  }
};

// Runs alone in a process, which has registered nothing.
TEST(OptionStringsOfEnabledFilters, AreKnownInTheirProcess) {
  rocksdb::Options options;
  MustBeOk(EnableFilter(&options), "filter");
  std::shared_ptr<const FilterPolicy> policy;
  MustBeOk(FilterPolicy::CreateFromString(StrictConfig(), "blocksieve:0.01", &policy), "its name");
}

// SetOptions passes the current policy, whose options stay unless they are set again.
TEST_F(OptionStrings, CurrentOptionsCanBeCleared) {
  const auto set = [](const std::string& text, std::shared_ptr<const FilterPolicy>* policy) {
    return FilterPolicy::CreateFromString(StrictConfig(), text, policy);
  };
  std::shared_ptr<const FilterPolicy> policy;
  ASSERT_TRUE(set("{id=blocksieve;wasted_reads=0.02;kind=ribbon}", &policy).ok());
  auto refused = policy;
  EXPECT_THAT(set("{id=blocksieve;target_fpr=0.02}", &refused).ToString(), HasSubstr("=none"));
  ASSERT_TRUE(set("{id=blocksieve;target_fpr=0.02;wasted_reads=none}", &policy).ok());
  const FilterPolicyOptions& options = As<Policy>(policy.get())->options();
  EXPECT_EQ(options.target_fpr, 0.02);
  EXPECT_EQ(options.wasted_reads, std::nullopt);
  EXPECT_EQ(options.kind, PolicyKind::kRibbon);

  ASSERT_TRUE(set("{id=blocksieve;ranges=true;range_fpr=0.25}", &policy).ok());
  refused = policy;
  EXPECT_THAT(set("{id=blocksieve;ranges=false}", &refused).ToString(),
              HasSubstr("range_fpr is 0.25; allowed: none"));
  ASSERT_TRUE(set("{id=blocksieve;ranges=false;range_fpr=none}", &policy).ok());
  EXPECT_FALSE(As<Policy>(policy.get())->options().ranges);
}

// RocksDB sets ignore_unsupported_options and ignore_unknown_options when it opens a database with
// its OPTIONS file. An error then means "no filter", so it must be on stderr.
TEST_F(OptionStrings, ErrorsThatRocksDbDropsAreOnStderr) {
  ConfigOptions forgiving;
  forgiving.ignore_unknown_options = true;
  forgiving.ignore_unsupported_options = true;
  const std::pair<const char*, const char*> cases[] = {
      {"blocksieve:10:false", "target_fpr is 10:false; allowed: 1e-07 to 0.5"},
      {"blocksieve: 0.01", "target_fpr is  0.01; allowed: 1e-07 to 0.5"},
      {"{id=blocksieve;kind=Bloom}", "kind is Bloom; allowed: auto, bloom, ribbon"},
      {"{id=blocksieve;max_build_bytes=1.5}", "max_build_bytes is 1.5; allowed: 0 to"},
      {"{id=blocksieve;ranges=false;range_fpr=0.02}", "range_fpr is 0.02; allowed: none"},
  };
  for (const auto& [text, problem] : cases) {
    std::shared_ptr<const FilterPolicy> policy;
    EXPECT_THAT(StderrOf([&] { Create(text, &policy, forgiving).PermitUncheckedError(); }),
                HasSubstr(problem));
  }
}

TEST_F(OptionStrings, UnknownOptionsAreNamed) {
  const std::string text = "{id=blocksieve;target_fpr=0.02;bits_per_kay=10}";
  std::shared_ptr<const FilterPolicy> policy;
  rocksdb::Status status;
  const std::string loud = StderrOf([&] { status = Create(text, &policy); });
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.ToString(), HasSubstr("bits_per_kay"));
  EXPECT_THAT(loud, HasSubstr("bits_per_kay"));
  ConfigOptions forgiving;
  forgiving.ignore_unknown_options = true;
  EXPECT_THAT(
      StderrOf([&] { status = Create(text, &policy, forgiving); }),
      HasSubstr(
          "bits_per_kay=10 is unknown; allowed: target_fpr, wasted_reads, bits_per_key, kind, "
          "max_build_bytes"));
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(As<Policy>(policy.get())->options().target_fpr, 0.02);
}

TEST_F(OptionStrings, ValidStringsAreQuiet) {
  const std::string loud = StderrOf([] {
    PolicyFromString("blocksieve:0.02");
    PolicyFromString("{id=blocksieve;target_fpr=0.02;kind=bloom;max_build_bytes=0}");
  });
  EXPECT_EQ(loud, "");
}

TEST_F(OptionStrings, OtherNamesAreUnknown) {
  for (const char* text : {"blocksieve2", "block", "blocksieve2:0.01", "xblocksieve"}) {
    std::shared_ptr<const FilterPolicy> policy;
    EXPECT_FALSE(Create(text, &policy).ok()) << text;
  }
  std::shared_ptr<const FilterPolicy> stock;
  ASSERT_TRUE(Create("bloomfilter:10:false", &stock).ok());
  EXPECT_EQ(As<Policy>(stock.get()), nullptr);
}

// RocksDB keeps the policy alive meanwhile, but not the context.
TEST(NewFilterPolicy, BuildersKeepNoReferenceToTheContext) {
  const auto keys = PresentKeys(KeyShape::kUrl, 1000);
  const auto policy = *NewFilterPolicy({.target_fpr = 0.01});
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder;
  {
    auto table_options = std::make_unique<rocksdb::BlockBasedTableOptions>();
    table_options->detect_filter_construct_corruption = true;
    table_options->optimize_filters_for_memory = true;
    builder = NewBuilder(*policy, *table_options);
  }
  const BuiltFilter filter = Build(builder.get(), keys);
  EXPECT_TRUE(builder->MaybePostVerify(filter.contents).ok());
  EXPECT_EQ(CountMatches(*policy, filter, keys), keys.size());
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
