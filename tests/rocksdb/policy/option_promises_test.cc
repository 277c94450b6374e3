#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_db.h"

// The text of any OPTIONS file keeps its meaning for ever: option_strings.txt.

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::SourcePath;
using blocksieve::testing::StrictConfig;

struct Promise {
  std::string text;
  std::string meaning;
};

/// The lines of the file with this prefix.
std::vector<Promise> PromisesOf(const std::string& what) {
  const std::string arrow = " => ";
  std::ifstream file(SourcePath("tests/rocksdb/policy/option_strings.txt"));
  EXPECT_TRUE(file.is_open());
  std::vector<Promise> promises;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(what + " ", 0) != 0) continue;
    const size_t at = line.find(arrow);
    EXPECT_NE(at, std::string::npos) << line;
    const size_t begin = what.size() + 1;
    promises.push_back({line.substr(begin, at - begin), line.substr(at + arrow.size())});
  }
  return promises;
}

class OptionPromisesTest : public ::testing::Test {
 protected:
  OptionPromisesTest() { blocksieve_rocksdb_register(); }

  rocksdb::ColumnFamilyOptions ColumnFamilyOf(const std::string& text) {
    rocksdb::ColumnFamilyOptions options;
    const rocksdb::Status status =
        rocksdb::GetColumnFamilyOptionsFromString(strict_, {}, text, &options);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
    return options;
  }

  const rocksdb::ConfigOptions strict_ = StrictConfig();
};

void ExpectMeaning(const rocksdb::FilterPolicy* policy, const Promise& promise) {
  const auto* const ours = As<Policy>(policy);
  ASSERT_NE(ours, nullptr) << promise.text;
  double target_fpr = 0;
  uint64_t max_build_bytes = 0;
  std::string kind, ranges, range_fpr, plain_range_reads;  // range options are not in all files
  std::istringstream(promise.meaning) >> target_fpr >> kind >> max_build_bytes >> ranges >>
      range_fpr >> plain_range_reads;
  const std::map<std::string, PolicyKind> kinds = {
      {"auto", PolicyKind::kAuto}, {"bloom", PolicyKind::kBloom}, {"ribbon", PolicyKind::kRibbon}};
  const FilterPolicyOptions& options = ours->options();
  EXPECT_EQ(GoalOf(options).target_fpr, target_fpr);
  EXPECT_EQ(options.kind, kinds.at(kind));
  EXPECT_EQ(options.max_build_bytes, max_build_bytes);
  EXPECT_EQ(options.ranges, ranges == "true");
  const bool has_range_fpr = !range_fpr.empty() && range_fpr != "none";
  EXPECT_EQ(options.range_fpr, has_range_fpr ? std::optional(std::stod(range_fpr)) : std::nullopt);
  EXPECT_EQ(options.plain_range_reads, plain_range_reads == "true");
}

TEST_F(OptionPromisesTest, PoliciesKeepTheirMeaning) {
  const std::vector<Promise> promises = PromisesOf("policy");
  EXPECT_GE(promises.size(), 40u);
  for (const Promise& promise : promises) {
    SCOPED_TRACE(promise.text);
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    const rocksdb::Status status =
        rocksdb::FilterPolicy::CreateFromString(strict_, promise.text, &policy);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ExpectMeaning(policy.get(), promise);

    // The same in column family options, where objects with options are in braces.
    const bool has_options = promise.text.find('=') != std::string::npos;
    const std::string text =
        has_options && promise.text[0] != '{' ? "{" + promise.text + "}" : promise.text;
    const rocksdb::ColumnFamilyOptions options = ColumnFamilyOf(
        "prefix_extractor=blocksieve.range;block_based_table_factory={filter_policy=" + text +
        ";}");
    EXPECT_TRUE(IsRangeExtractor(options.prefix_extractor.get()));
    const auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    ASSERT_NE(table, nullptr);
    ExpectMeaning(table->filter_policy.get(), promise);
  }
}

TEST_F(OptionPromisesTest, SkipIndexesKeepTheirMeaning) {
  const std::vector<Promise> promises = PromisesOf("skip_index");
  EXPECT_GE(promises.size(), 7u);
  for (const Promise& promise : promises) {
    SCOPED_TRACE(promise.text);
    const rocksdb::ColumnFamilyOptions options =
        ColumnFamilyOf("table_properties_collectors={" + promise.text + "}");
    ASSERT_EQ(options.table_properties_collector_factories.size(), 1u);
    const auto* const factory =
        As<SkipIndexCollectorFactory>(options.table_properties_collector_factories[0].get());
    ASSERT_NE(factory, nullptr);
    std::istringstream meaning(promise.meaning);
    rocksdb_plugin::SkipIndexSettings expected;
    SkipIndexOptions& index = expected.index;
    meaning >> index.granule_rows >> index.granule_bytes >> index.target_fpr >>
        index.max_index_bytes >> expected.storage.value_suffix_bytes;
    for (std::string definition; meaning >> definition;) {
      const Result<Column> column = Column::Parse(definition);
      ASSERT_TRUE(column.ok()) << definition;
      index.columns.push_back(*column);
    }
    EXPECT_EQ(IdentityText(factory->settings()), IdentityText(expected));
  }
}

TEST_F(OptionPromisesTest, TheOptionsFileOfTheReadmeIsLoaded) {
  std::ifstream readme(SourcePath("integration/rocksdb/README.md"));
  ASSERT_TRUE(readme.is_open());
  const testing::TempDir dir;
  const std::string path = dir / "OPTIONS";
  {
    std::ofstream file(path);
    std::string line;
    while (std::getline(readme, line) && line != "```ini") continue;
    while (std::getline(readme, line) && line != "```") file << line << "\n";
  }
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status = rocksdb::LoadOptionsFromFile(strict_, path, &db, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(db.listeners.size(), 1u);
  const rocksdb::ColumnFamilyOptions& options = families.at(0).options;
  EXPECT_EQ(options.table_properties_collector_factories.size(), 1u);
  const auto* const table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  const auto* const policy = As<Policy>(table->filter_policy.get());
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->options().bits_per_key, 10);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
