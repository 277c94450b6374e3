#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/policy/policy_options.h"
#include "tests/support/logs.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::StderrOf;
using rocksdb::ConfigOptions;
using rocksdb::FilterPolicy;

class OptionStrings : public ::testing::Test {
 protected:
  OptionStrings() { blocksieve_rocksdb_register(); }

  static rocksdb::Status Create(const std::string& text,
                                std::shared_ptr<const FilterPolicy>* policy,
                                const ConfigOptions& config = Strict()) {
    policy->reset();
    return FilterPolicy::CreateFromString(config, text, policy);
  }

  // RocksDB's default takes "no such policy" for "no policy".
  static ConfigOptions Strict() {
    ConfigOptions config;
    config.ignore_unsupported_options = false;
    return config;
  }

  static FilterPolicyOptions OptionsOf(const std::string& text) {
    std::shared_ptr<const FilterPolicy> policy;
    const rocksdb::Status status = Create(text, &policy);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
    const auto* ours = dynamic_cast<const Policy*>(policy.get());
    EXPECT_NE(ours, nullptr) << text;
    return ours == nullptr ? FilterPolicyOptions() : ours->options();
  }
};

TEST_F(OptionStrings, AnIdAloneGivesTheDefaults) {
  for (const char* text : {"blocksieve", "{id=blocksieve}", "id=blocksieve"}) {
    EXPECT_EQ(OptionsOf(text).target_fpr, std::nullopt) << text;
    EXPECT_EQ(UniformTargetFpr(OptionsOf(text)), 0.01) << text;
    EXPECT_EQ(OptionsOf(text).kind, PolicyKind::kAuto) << text;
    EXPECT_EQ(OptionsOf(text).max_build_bytes, 0u) << text;
  }
}

TEST_F(OptionStrings, TheTargetFollowsTheId) {
  EXPECT_EQ(OptionsOf("blocksieve:0.01").target_fpr, 0.01);
  EXPECT_EQ(OptionsOf("blocksieve:0.5").target_fpr, 0.5);
  EXPECT_EQ(OptionsOf("blocksieve:1e-3").target_fpr, 1e-3);
  EXPECT_EQ(OptionsOf("blocksieve:1.5e-6").target_fpr, 1.5e-6);
  EXPECT_EQ(OptionsOf("blocksieve:1e-6").target_fpr, 1e-6);
  EXPECT_EQ(OptionsOf("blocksieve:0.000001").target_fpr, 1e-6);
  EXPECT_EQ(OptionsOf("{id=blocksieve:0.02}").target_fpr, 0.02);
}

TEST_F(OptionStrings, EveryOptionHasAName) {
  const FilterPolicyOptions options =
      OptionsOf("{id=blocksieve;target_fpr=0.003;kind=bloom;max_build_bytes=123456789}");
  EXPECT_EQ(options.target_fpr, 0.003);
  EXPECT_EQ(options.kind, PolicyKind::kBloom);
  EXPECT_EQ(options.max_build_bytes, 123456789u);
  EXPECT_EQ(OptionsOf("{id=blocksieve;wasted_reads=0.25}").wasted_reads, 0.25);
  EXPECT_EQ(OptionsOf("{id=blocksieve;bits_per_key=9.5}").bits_per_key, 9.5);
  EXPECT_EQ(OptionsOf("{id=blocksieve;kind=auto}").kind, PolicyKind::kAuto);
  EXPECT_EQ(OptionsOf("{id=blocksieve;max_build_bytes=18446744073709551615}").max_build_bytes,
            UINT64_MAX);
}

TEST_F(OptionStrings, BothWaysTogetherAreAllowedAndNamesWin) {
  EXPECT_EQ(OptionsOf("{id=blocksieve:0.3;target_fpr=0.2}").target_fpr, 0.2);
}

struct Invalid {
  const char* text;
  const char* name;
  const char* value;
  const char* range;
};

constexpr const char* kFprRange = "1e-07 to 0.5";
constexpr const char* kBytesRange = "0 (no limit) to 18446744073709551615";

constexpr Invalid kInvalid[] = {
    {"blocksieve:", "target_fpr", "empty", kFprRange},
    {"blocksieve:0", "target_fpr", "is 0", kFprRange},
    {"blocksieve:1", "target_fpr", "is 1", kFprRange},
    {"blocksieve:0.51", "target_fpr", "0.51", kFprRange},
    {"blocksieve:0.500000000001", "target_fpr", "0.500000000001", kFprRange},
    {"blocksieve:9.99e-8", "target_fpr", "9.99e-8", kFprRange},
    {"blocksieve:-0.01", "target_fpr", "-0.01", kFprRange},
    {"blocksieve:nan", "target_fpr", "nan", kFprRange},
    {"blocksieve:inf", "target_fpr", "inf", kFprRange},
    {"blocksieve:0.01x", "target_fpr", "0.01x", kFprRange},
    {"blocksieve: 0.01", "target_fpr", "0.01", kFprRange},
    {"blocksieve:0,01", "target_fpr", "0,01", kFprRange},
    {"blocksieve:1%", "target_fpr", "1%", kFprRange},
    {"blocksieve:10:false", "target_fpr", "10:false", kFprRange},
    {"blocksieve:ten", "target_fpr", "ten", kFprRange},
    {"blocksieve:1e-400", "target_fpr", "1e-400", kFprRange},
    {"{id=blocksieve;target_fpr=0.7}", "target_fpr", "0.7", kFprRange},
    {"{id=blocksieve;target_fpr=0}", "target_fpr", "is 0", kFprRange},
    {"{id=blocksieve;target_fpr=nan}", "target_fpr", "nan", kFprRange},
    {"{id=blocksieve;target_fpr=}", "target_fpr", "empty", kFprRange},
    {"{id=blocksieve;kind=ribbonn}", "kind", "ribbonn", "auto, bloom, ribbon"},
    {"{id=blocksieve;kind=Bloom}", "kind", "Bloom", "auto, bloom, ribbon"},
    {"{id=blocksieve;kind=}", "kind", "empty", "auto, bloom, ribbon"},
    {"{id=blocksieve;max_build_bytes=-1}", "max_build_bytes", "-1", kBytesRange},
    {"{id=blocksieve;max_build_bytes=1.5}", "max_build_bytes", "1.5", kBytesRange},
    {"{id=blocksieve;max_build_bytes=64MB}", "max_build_bytes", "64MB", kBytesRange},
    {"{id=blocksieve;max_build_bytes=18446744073709551616}", "max_build_bytes",
     "18446744073709551616", kBytesRange},
};

TEST_F(OptionStrings, InvalidValuesAreRefusedWithNameValueAndRange) {
  for (const Invalid& invalid : kInvalid) {
    std::shared_ptr<const FilterPolicy> policy;
    rocksdb::Status status;
    const std::string loud = StderrOf([&] { status = Create(invalid.text, &policy); });
    EXPECT_FALSE(status.ok()) << invalid.text;
    // RocksDB may drop the status, so all of it is on stderr too.
    for (const std::string& where : {status.ToString(), loud}) {
      EXPECT_NE(where.find(invalid.name), std::string::npos) << invalid.text << "\n" << where;
      EXPECT_NE(where.find(invalid.value), std::string::npos) << invalid.text << "\n" << where;
      EXPECT_NE(where.find(invalid.range), std::string::npos) << invalid.text << "\n" << where;
    }
  }
}

// RocksDB uses ignore_unsupported_options and ignore_unknown_options when it opens a database by
// its OPTIONS file, and then an error comes out as "no filter".
TEST_F(OptionStrings, InvalidValuesAreLoudWhereRocksDbSwallowsThem) {
  ConfigOptions forgiving;
  forgiving.ignore_unknown_options = true;
  forgiving.ignore_unsupported_options = true;
  for (const Invalid& invalid : kInvalid) {
    std::shared_ptr<const FilterPolicy> policy;
    const std::string loud = StderrOf([&] {
      const rocksdb::Status status = Create(invalid.text, &policy, forgiving);
      static_cast<void>(status);
    });
    EXPECT_NE(loud.find(invalid.name), std::string::npos) << invalid.text << "\n" << loud;
    EXPECT_NE(loud.find(invalid.range), std::string::npos) << invalid.text << "\n" << loud;
  }
}

TEST_F(OptionStrings, UnknownOptionsAreNamed) {
  const std::string text = "{id=blocksieve;target_fpr=0.02;bits_per_kay=10}";
  std::shared_ptr<const FilterPolicy> policy;
  rocksdb::Status status;
  const std::string loud = StderrOf([&] { status = Create(text, &policy); });
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("bits_per_kay"), std::string::npos) << status.ToString();
  EXPECT_NE(loud.find("bits_per_kay"), std::string::npos) << loud;
}

TEST_F(OptionStrings, UnknownOptionsAreLoudUnderIgnoreUnknownOptions) {
  ConfigOptions forgiving;
  forgiving.ignore_unknown_options = true;
  std::shared_ptr<const FilterPolicy> policy;
  rocksdb::Status status;
  const std::string loud = StderrOf([&] {
    status = Create("{id=blocksieve;target_fpr=0.02;bits_per_kay=10}", &policy, forgiving);
  });
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(dynamic_cast<const Policy&>(*policy).options().target_fpr, 0.02);
  EXPECT_NE(loud.find("bits_per_kay=10"), std::string::npos) << loud;
  EXPECT_NE(loud.find("known options are target_fpr, wasted_reads, bits_per_key, kind, max_build_bytes"),
            std::string::npos)
      << loud;
}

TEST_F(OptionStrings, ValidStringsAreQuiet) {
  const std::string loud = StderrOf([] {
    OptionsOf("blocksieve:0.02");
    OptionsOf("{id=blocksieve;target_fpr=0.02;kind=bloom;max_build_bytes=0}");
  });
  EXPECT_EQ(loud, "");
}

TEST_F(OptionStrings, OtherNamesAreNotOurs) {
  for (const char* text : {"blocksieve2", "block", "blocksieve2:0.01", "xblocksieve"}) {
    std::shared_ptr<const FilterPolicy> policy;
    EXPECT_FALSE(Create(text, &policy).ok()) << text;
  }
  std::shared_ptr<const FilterPolicy> stock;
  ASSERT_TRUE(Create("bloomfilter:10:false", &stock).ok());
  EXPECT_EQ(dynamic_cast<const Policy*>(stock.get()), nullptr);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
