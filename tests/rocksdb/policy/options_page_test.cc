// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/policy.h"
#include "tests/support/environment.h"

namespace blocksieve::rocksdb_plugin {
namespace {

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
