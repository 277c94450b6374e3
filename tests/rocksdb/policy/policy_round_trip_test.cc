#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// From options to text and back: GetId, ToString, OPTIONS files.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using ::testing::AllOf;
using ::testing::HasSubstr;

class PolicyRoundTrip : public ::testing::Test {
 protected:
  PolicyRoundTrip() { blocksieve_rocksdb_register(); }

  static std::shared_ptr<const rocksdb::FilterPolicy> Make(double target_fpr,
                                                           uint64_t max_build_bytes = 0) {
    return *NewFilterPolicy(
        {.target_fpr = target_fpr, .kind = PolicyKind::kBloom, .max_build_bytes = max_build_bytes});
  }

  static const FilterPolicyOptions& OptionsOf(const rocksdb::FilterPolicy* policy) {
    const auto* ours = As<Policy>(policy);
    if (ours == nullptr) MustBeOk(rocksdb::Status::NotFound(), "our policy");
    return ours->options();
  }
};

// All but the last have no short decimal form; printf's six digits would change them.
const double kTargets[] = {1.0 / 3, 0.1, 0.012345678901234567, 1e-3 / 7, 1.5e-6, 1e-6, 0.5};

TEST_F(PolicyRoundTrip, UnsetOptionsAreNotWritten) {
  for (const FilterPolicyOptions& options :
       {FilterPolicyOptions{}, {.wasted_reads = 1.0 / 3}, {.bits_per_key = 1.0 / 3}}) {
    const std::string text = (*NewFilterPolicy(options))->ToString(rocksdb::ConfigOptions());
    const FilterPolicyOptions again = OptionsOf(PolicyFromString(text).get());
    EXPECT_EQ(again.target_fpr, std::nullopt) << text;
    EXPECT_EQ(again.wasted_reads, options.wasted_reads) << text;
    EXPECT_EQ(again.bits_per_key, options.bits_per_key) << text;
  }
}

TEST_F(PolicyRoundTrip, PoliciesThatDifferAreNotEquivalent) {
  std::string mismatch;
  EXPECT_FALSE(Make(0.01)->AreEquivalent(rocksdb::ConfigOptions(), Make(0.02).get(), &mismatch));
  EXPECT_FALSE(
      Make(0.01, 1)->AreEquivalent(rocksdb::ConfigOptions(), Make(0.01, 2).get(), &mismatch));
  // The smallest possible difference.
  EXPECT_FALSE(Make(0.01)->AreEquivalent(rocksdb::ConfigOptions(),
                                         Make(std::nextafter(0.01, 1)).get(), &mismatch));
}

TEST_F(PolicyRoundTrip, ThroughTheOptionsFileOfADatabase) {
  for (const double target : kTargets) {
    TestDb db(MakeConfig(FilterShape::kFull, Make(target, 7654321)));
    const StoredOptions stored(db.path());
    ASSERT_NE(stored.filter_policy(), nullptr);
    EXPECT_EQ(stored.filter_policy()->GetId(), Make(target)->GetId());
    EXPECT_EQ(OptionsOf(stored.filter_policy().get()).target_fpr, target);
    EXPECT_EQ(OptionsOf(stored.filter_policy().get()).max_build_bytes, 7654321u);
    EXPECT_TRUE(rocksdb::CheckOptionsCompatibility({}, db.path(), stored.db, stored.families).ok());
  }
}

// RocksDB 7.8.3 prints only the policy's name to the info log.
TEST_F(PolicyRoundTrip, TheOptionsInEffectCanBePrinted) {
  const auto policy = Make(1.5e-6, 4321);
  EXPECT_THAT(As<Policy>(policy.get())->GetPrintableOptions(),
              AllOf(HasSubstr("target_fpr: 1.5e-06"), HasSubstr("kind: bloom"),
                    HasSubstr("max_build_bytes: 4321")));
  const auto ranges =
      PolicyFromString("{id=blocksieve;ranges=true;range_fpr=0.25;plain_range_reads=true}");
  EXPECT_THAT(As<Policy>(ranges.get())->GetPrintableOptions(),
              AllOf(HasSubstr("ranges: true"), HasSubstr("range_fpr: 0.25"),
                    HasSubstr("plain_range_reads: true")));
  DbConfig config = MakeConfig(FilterShape::kFull, policy);
  auto log = std::make_shared<MemoryLogger>();
  config.options.info_log = log;
  TestDb db(config);
  EXPECT_THAT(log->text(), HasSubstr("filter_policy: blocksieve"));
}

// Puts another filter policy into the database's OPTIONS file.
void EditOptionsFile(const std::string& db_path, const std::string& policy) {
  std::string name;
  MustBeOk(rocksdb::GetLatestOptionsFileName(db_path, rocksdb::Env::Default(), &name), "name");
  std::stringstream edited;
  {
    std::ifstream file(db_path + "/" + name);
    for (std::string line; std::getline(file, line);) {
      const size_t at = line.find("filter_policy=");
      edited << (at == std::string::npos ? line : line.substr(0, at) + "filter_policy=" + policy)
             << "\n";
    }
  }
  std::ofstream(db_path + "/" + name) << edited.str();
}

// RocksDB silently opens such a database without a filter.
TEST_F(PolicyRoundTrip, ABadParameterInAnOptionsFileIsLoud) {
  const std::string too_high = "target_fpr is 7; allowed: 1e-07 to 0.5";
  const std::string two = "target_fpr=0.01, bits_per_key=10 exclude each other";
  const std::pair<const char*, std::string> kBad[] = {
      {"{id=blocksieve;target_fpr=7;}", too_high},
      {"blocksieve:7", too_high},
      {"{id=blocksieve;target_fpr=0.01;bits_per_key=10;}", two},
      {"{id=blocksieve:0.01;bits_per_key=10;}", two},
  };
  for (const auto& [bad, reason] : kBad) {
    TestDb db(MakeConfig(FilterShape::kFull, Make(0.01)));
    db.Close();
    EditOptionsFile(db.path(), bad);
    for (const bool ignore_unknown : {false, true}) {
      rocksdb::ConfigOptions config;
      config.ignore_unknown_options = ignore_unknown;
      rocksdb::DBOptions db_options;
      std::vector<rocksdb::ColumnFamilyDescriptor> families;
      const std::string loud = StderrOf([&] {
        LoadLatestOptions(config, db.path(), &db_options, &families).PermitUncheckedError();
      });
      EXPECT_THAT(loud, HasSubstr(reason)) << bad << ", ignore_unknown_options " << ignore_unknown;
    }
  }
}

// RocksDB then drops all options of the policy and continues with the defaults, unless the file is
// from a newer version.
TEST_F(PolicyRoundTrip, AnUnknownOptionInAnOptionsFileIsLoud) {
  TestDb db(MakeConfig(FilterShape::kFull, Make(0.02)));
  db.Close();
  EditOptionsFile(db.path(), "{id=blocksieve;target_fpr=0.03;from_the_future=1;}");
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  rocksdb::Status status;
  const std::string loud = StderrOf([&] {
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    status = rocksdb::LoadLatestOptions(config, db.path(), &db_options, &families);
  });
  EXPECT_THAT(loud, HasSubstr("from_the_future=1"));
  if (!status.ok()) return;
  // The log also has the options that it continues with.
  const auto* table =
      families[0].options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  ASSERT_NE(table->filter_policy, nullptr);
  EXPECT_EQ(GoalOf(OptionsOf(table->filter_policy.get())).target_fpr, 0.01);
  EXPECT_THAT(loud, HasSubstr("target_fpr: 0.01"));
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
