// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/environment.h"
#include "tests/support/logs.h"
#include "tests/support/test_db.h"

// Refused strings: also bad_input_test.cc.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using rocksdb::ConfigOptions;
using rocksdb::FilterPolicy;
using ::testing::AllOf;
using ::testing::HasSubstr;

class OptionStringsTest : public ::testing::Test {
 protected:
  OptionStringsTest() { blocksieve_rocksdb_register(); }

  static rocksdb::Status Create(const std::string& text,
                                std::shared_ptr<const FilterPolicy>* policy,
                                const ConfigOptions& config = StrictConfig()) {
    policy->reset();
    return FilterPolicy::CreateFromString(config, text, policy);
  }
};

// Runs alone in a process, which has registered nothing.
TEST(EnabledOptionStringsTest, AreKnownInTheirProcess) {
  rocksdb::Options options;
  MustBeOk(Enable(&options, {.target_fpr = 0.01}));
  std::shared_ptr<const FilterPolicy> policy;
  MustBeOk(FilterPolicy::CreateFromString(StrictConfig(), "blocksieve:0.01", &policy));
}

TEST_F(OptionStringsTest, MeanTheOptionsThatTheyName) {
  const std::pair<const char*, EnableOptions> cases[] = {
      {"blocksieve", {}},
      {"id=blocksieve;", {}},
      {"blocksieve:1e-3", {.target_fpr = 0.001}},
      {"{id=blocksieve:0.3;target_fpr=0.2}", {.target_fpr = 0.2}},
      {" { id = blocksieve ; target_fpr = 0.02 } ", {.target_fpr = 0.02}},
      {"{id=blocksieve;max_build_bytes=64M;kind=ribbon;target_fpr=1.5e-06;}",
       {.target_fpr = 1.5e-6, .kind = FilterKind::kRibbon, .max_build_bytes = 64 << 20}},
      {"{id=blocksieve;ranges=1;range_fpr=none}", {.ranges = true}},
      {"{id=blocksieve;kind=stock;wasted_reads=0.01}",
       {.wasted_reads = 0.01, .kind = FilterKind::kStock}},
      {"{id=blocksieve;bits_per_key=9}", {.bits_per_key = 9}},
      {"{id=blocksieve;plain_range_reads=true;range_fpr=0.3;ranges=true}",
       {.ranges = true, .range_fpr = 0.3, .plain_range_reads = true}},
  };
  for (const auto& [text, options] : cases) {
    EXPECT_EQ(PolicyFromString(text)->ToString(StrictConfig()),
              NewPolicy(options)->ToString(StrictConfig()))
        << text;
  }
  rocksdb::ColumnFamilyOptions family;
  MustBeOk(rocksdb::GetColumnFamilyOptionsFromString(
      StrictConfig(), {},
      "table_properties_collectors={{id=blocksieve.skip_index;value_suffix_bytes=4;"
      "columns=a=field[%3B]:2|b=fixed(8%2C4)|c%3Djson%3A/a/0;granule_rows=4;}}",
      &family));
  const auto* const factory =
      As<SkipIndexCollectorFactory>(family.table_properties_collector_factories.at(0).get());
  ASSERT_NE(factory, nullptr);
  const SkipIndexOptions index{.columns = {"a=field[;]:2", "b=fixed(8,4)", "c=json:/a/0"},
                               .granule_rows = 4};
  EXPECT_EQ(IdentityText(factory->settings()),
            IdentityText({.index = index, .value_suffix_bytes = 4}));
}

TEST_F(OptionStringsTest, TheOptionsFileOfThePageIsLoaded) {
  std::ifstream page(SourcePath("integration/rocksdb/OPTIONS.md"));
  ASSERT_TRUE(page.is_open());
  const TempDir dir;
  const std::string path = dir / "OPTIONS";
  {
    std::ofstream file(path);
    std::string line;
    while (std::getline(page, line) && line != "```ini") continue;
    while (std::getline(page, line) && line != "```") file << line << "\n";
  }
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  MustBeOk(rocksdb::LoadOptionsFromFile(StrictConfig(), path, &db, &families));
  EXPECT_EQ(db.listeners.size(), 1u);
  const rocksdb::ColumnFamilyOptions& options = families.at(0).options;
  EXPECT_EQ(options.table_properties_collector_factories.size(), 1u);
  const auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  EXPECT_EQ(As<Policy>(table->filter_policy.get())->options().bits_per_key, 10);
}

// SetOptions passes the current policy, whose options stay unless they are set again.
TEST_F(OptionStringsTest, CurrentOptionsCanBeCleared) {
  const auto set = [](const std::string& text, std::shared_ptr<const FilterPolicy>* policy) {
    return FilterPolicy::CreateFromString(StrictConfig(), text, policy);
  };
  std::shared_ptr<const FilterPolicy> policy;
  ASSERT_TRUE(set("{id=blocksieve;wasted_reads=0.02;kind=ribbon}", &policy).ok());
  auto refused = policy;
  EXPECT_THAT(set("{id=blocksieve;target_fpr=0.02}", &refused).ToString(), HasSubstr("=none"));
  ASSERT_TRUE(set("{id=blocksieve;target_fpr=0.02;wasted_reads=none}", &policy).ok());
  const EnableOptions& options = As<Policy>(policy.get())->options();
  EXPECT_EQ(options.target_fpr, 0.02);
  EXPECT_EQ(options.wasted_reads, std::nullopt);
  EXPECT_EQ(options.kind, FilterKind::kRibbon);

  ASSERT_TRUE(set("{id=blocksieve;ranges=true;range_fpr=0.25}", &policy).ok());
  refused = policy;
  EXPECT_THAT(set("{id=blocksieve;ranges=false}", &refused).ToString(),
              HasSubstr("range_fpr is 0.25; allowed: none"));
  ASSERT_TRUE(set("{id=blocksieve;ranges=false;range_fpr=none}", &policy).ok());
  EXPECT_FALSE(As<Policy>(policy.get())->options().ranges);
}

// From options to text and back: GetId, ToString, OPTIONS files.

// RocksDB from 9.8 on refuses to open a database whose OPTIONS file it reads back differently. Most
// of these numbers have no short decimal form; printf's six digits would change them.
TEST_F(OptionStringsTest, OptionsAreAsReadFromTheirText) {
  std::vector<EnableOptions> all = {{}, {.wasted_reads = 1.0 / 3}, {.bits_per_key = 1.0 / 3}};
  for (const double target : {1.0 / 3, 0.1, 0.012345678901234567, 1e-3 / 7, 1.5e-6, 1e-6, 0.5}) {
    all.push_back(
        {.target_fpr = target, .kind = FilterKind::kBlockedBloom, .max_build_bytes = 7654321});
  }
  for (const char* const prefixes : {"fields:len8,2,len32,8", "fields:2*,4", "delimiter::",
                                     "delimiter:%2F", "lengths:4,12", "auto", "none", ""}) {
    all.push_back({.prefixes = prefixes});
  }
  for (const EnableOptions& options : all) {
    const auto policy = NewPolicy(options);
    const std::string text = policy->ToString(rocksdb::ConfigOptions());
    std::shared_ptr<const FilterPolicy> again;
    EXPECT_EQ(CatchStderr([&] { again = PolicyFromString(text); }), "") << text;
    std::string mismatch;
    EXPECT_TRUE(policy->AreEquivalent(rocksdb::ConfigOptions(), again.get(), &mismatch))
        << text << ": " << mismatch;
    EXPECT_EQ(policy->GetId(), again->GetId());
  }
}

// Sizes as people write them: 8388608 is 8 MiB.
std::string DefaultText(const OptionTable::Entry& entry) {
  uint64_t bytes = 0;
  const bool is_size = std::string_view(entry.name).ends_with("_bytes");
  if (!is_size || !FromText(entry.default_text, &bytes) || bytes % 1024 != 0 || bytes == 0) {
    return entry.default_text.empty() ? "none" : entry.default_text;
  }
  const bool is_large = bytes % (1 << 20) == 0;
  return ToText(bytes >> (is_large ? 20 : 10)) + (is_large ? " MiB" : " KiB");
}

std::string Section(const OptionTable& table) {
  std::string text = "\n| option | default | range | meaning |\n| --- | --- | --- | --- |\n";
  for (const OptionTable::Entry& entry : table.entries()) {
    text += std::string("| `") + entry.name + "` | " + DefaultText(entry) + " | " + entry.allowed +
            (entry.allowed.empty() ? "| " : " | ") + entry.meaning + " |\n";
  }
  return text;
}

TEST(OptionsPageTest, HasTheTablesOfTheParsers) {
  const std::string path = testing::SourcePath("integration/rocksdb/OPTIONS.md");
  std::stringstream read;
  read << std::ifstream(path).rdbuf();
  const std::string page = read.str();
  std::string wanted = page;
  for (const auto& [title, table] : {std::pair("## `filter_policy", &PolicyOptionTable()),
                                     std::pair("## `table_properties", &SkipIndexOptionTable()),
                                     std::pair("## `user_defined", &BlockIndexOptionTable())}) {
    const size_t heading = wanted.find(title);
    ASSERT_NE(heading, std::string::npos) << title;
    const size_t begin = wanted.find('\n', heading) + 1;
    wanted.replace(begin, wanted.find("\n## ", begin) - begin, Section(*table));
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests set no variables meanwhile
  if (std::getenv("BLOCKSIEVE_RECORD") != nullptr) std::ofstream(path) << wanted;
  EXPECT_EQ(page, wanted);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
