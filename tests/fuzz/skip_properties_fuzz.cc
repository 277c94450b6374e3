// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/comparator.h>
#include <rocksdb/table_properties.h>

#include <sstream>

#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal.h"

// Input: the properties of a file, one per line ("name=text"); an empty line; its index. With any
// of them, a scan can be planned, and a file without a readable index is read as a whole.

namespace blocksieve::rocksdb_plugin {
namespace {

using blocksieve::testing::Require;

constexpr char kPath[] = "/db/000012.sst";

using Properties = std::shared_ptr<rocksdb::TableProperties>;

Properties ReadProperties(std::string_view text) {
  auto properties = std::make_shared<rocksdb::TableProperties>();
  properties->num_entries = 100;
  properties->orig_file_number = 12;
  properties->db_session_id = "session";
  const std::string_view lines = text.substr(0, text.find("\n\n"));
  // Lines name=value, with '|' for line ends in values.
  std::istringstream stream{std::string(lines)};
  for (std::string line; std::getline(stream, line);) {
    std::ranges::replace(line, '|', '\n');
    const size_t end = std::min(line.find('='), line.size());
    properties->user_collected_properties.emplace(line.substr(0, end),
                                                  line.substr(std::min(end + 1, line.size())));
  }
  if (lines.size() < text.size()) {
    properties->user_collected_properties.emplace(kIndexProperty, text.substr(lines.size() + 2));
  }
  return properties;
}

void CheckPlan(const Properties& properties, bool has_index) {
  static const Predicate predicate =
      *Predicate::Parse("package = 'p7' OR number > 3 AND word != 'w1'",
                        {{*Column::Parse("package=field:1"), *Column::Parse("number=int:2"),
                          *Column::Parse("word=words:3")}});
  ScanContext context;
  context.comparator = rocksdb::BytewiseComparator();
  context.predicate = predicate;
  context.sequence = 7;
  context.indexes.emplace(context.predicate, &context.counts);
  const ScanPlan plan =
      MakePlan(&context,
               std::make_shared<FamilyFiles>(
                   context.comparator, rocksdb::ColumnFamilyMetaData(),
                   FamilyFiles::Tables{std::make_shared<KnownTable>(kPath, properties)}),
               /*is_lazy=*/false);
  if (has_index) return;
  Require(!context.counts.full_scan_reason.empty() ||
              (plan.files.size() == 1 && plan.files[0].is_whole),
          "a file without a usable index is read as a whole");
  Require(context.counts.file_problems.size() == 1, "and the scan says why");
}

void Check(const Properties& properties) {
  const SstIndex index(properties);
  const bool has_index = index.index() != nullptr;
  Require(has_index == index.problem().empty(), "there is an index, or a problem");
  // Keeps the process's catalog from caching it.
  properties->db_session_id.clear();
  CheckPlan(properties, has_index);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin

void blocksieve::testing::TestOneInput(ByteView bytes) {
  using namespace rocksdb_plugin;
  const Properties properties = ReadProperties(AsText(bytes));
  const auto index = properties->user_collected_properties.find(kIndexProperty);
  std::optional<std::string> sealed;
  if (index != properties->user_collected_properties.end()) {
    sealed = ResealSkipIndex(AsBytes(index->second));
  }
  Check(properties);
  if (!sealed) return;
  const auto other = std::make_shared<rocksdb::TableProperties>(*properties);
  other->user_collected_properties[kIndexProperty] = *sealed;
  other->db_session_id = "session";
  Check(other);
}
