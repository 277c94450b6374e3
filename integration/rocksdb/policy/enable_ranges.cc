#include "integration/rocksdb/policy/policy.h"

#include <rocksdb/comparator.h>
#include <rocksdb/table.h>

#include <string_view>

#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

constexpr std::string_view kBytewise = "leveldb.BytewiseComparator";
constexpr std::string_view kBytewiseWithTimestamps = "leveldb.BytewiseComparator.u64ts";

rocksdb::Status Refused(const std::string& name, std::string_view value,
                        const std::string& allowed) {
  return OptionOutOfRange(name, std::string(value), allowed + " (with ranges=true)");
}

}  // namespace

rocksdb::Status CheckRangeOptions(const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor) {
  const auto name_of = [](const auto& object) -> std::string_view {
    return object == nullptr ? "null" : object->Name();
  };
  const std::string_view comparator = name_of(column_family.comparator);
  if (comparator != kBytewise && comparator != kBytewiseWithTimestamps) {
    return Refused("comparator", comparator,
                   std::string(kBytewise) + ", " + std::string(kBytewiseWithTimestamps));
  }
  const std::string_view memtable = name_of(column_family.memtable_factory);
  if (memtable == "null" || memtable.find("Hash") != std::string_view::npos) {
    return Refused("memtable_factory", memtable,
                   "one that does not hash prefixes, such as SkipListFactory");
  }
  const auto* const table =
      column_family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return Refused("table_factory", column_family.table_factory->Name(), "BlockBasedTable");
  }
  if (!table->whole_key_filtering) return Refused("whole_key_filtering", "false", "true");
  if (table->index_type == rocksdb::BlockBasedTableOptions::kHashSearch) {
    return Refused("index_type", "kHashSearch",
                   "kBinarySearch, kBinarySearchWithFirstKey, kTwoLevelIndexSearch");
  }
  if (check_extractor && !IsRangeExtractor(column_family.prefix_extractor.get())) {
    return Refused("prefix_extractor",
                   column_family.prefix_extractor == nullptr
                       ? "not set"
                       : column_family.prefix_extractor->Name(),
                   RangeExtractor::kName);
  }
  return rocksdb::Status::OK();
}

}  // namespace rocksdb_plugin

void PrepareRangeRead(const rocksdb::Slice* upper_bound, rocksdb::ReadOptions* read_options) {
  if (read_options == nullptr) return;
  read_options->iterate_upper_bound = upper_bound;
  read_options->auto_prefix_mode = true;
}

}  // namespace blocksieve
