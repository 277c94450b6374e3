#include "integration/rocksdb/policy/policy.h"

#include <rocksdb/comparator.h>
#include <rocksdb/table.h>

#include <string>
#include <string_view>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

constexpr std::string_view kBytewise = "leveldb.BytewiseComparator";
constexpr std::string_view kBytewiseWithTimestamps = "leveldb.BytewiseComparator.u64ts";

rocksdb::Status Refused(const std::string& what) {
  return rocksdb::Status::InvalidArgument("blocksieve: ranges=true " + what);
}

}  // namespace

rocksdb::Status CheckRangeOptions(const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor) {
  const auto name_of = [](const auto& object) -> std::string_view {
    return object == nullptr ? "null" : object->Name();
  };
  const std::string_view comparator = name_of(column_family.comparator);
  if (comparator != kBytewise && comparator != kBytewiseWithTimestamps) {
    return Refused("needs the comparator " + std::string(kBytewise) + " or " +
                   std::string(kBytewiseWithTimestamps) + "; that of the column family is " +
                   std::string(comparator));
  }
  const std::string_view memtable = name_of(column_family.memtable_factory);
  if (memtable == "null" || memtable.find("Hash") != std::string_view::npos) {
    return Refused(
        "needs a memtable that does not hash prefixes, such as SkipListFactory; memtable_factory "
        "is " +
        std::string(memtable));
  }
  const auto* const table =
      column_family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return Refused("needs block-based tables; table_factory is " +
                   std::string(column_family.table_factory->Name()));
  }
  if (!table->whole_key_filtering) {
    return Refused("needs whole_key_filtering=true; it is false");
  }
  if (table->index_type == rocksdb::BlockBasedTableOptions::kHashSearch) {
    return Refused(
        "needs index_type=kBinarySearch, kBinarySearchWithFirstKey or kTwoLevelIndexSearch; it is "
        "kHashSearch");
  }
  if (check_extractor && !IsRangeExtractor(column_family.prefix_extractor.get())) {
    return Refused(std::string("needs prefix_extractor=") + RangeExtractor::kName + "; it is " +
                   (column_family.prefix_extractor == nullptr
                        ? "not set"
                        : column_family.prefix_extractor->Name()));
  }
  return rocksdb::Status::OK();
}

}  // namespace rocksdb_plugin

void PrepareRangeRead(const rocksdb::Slice* upper_bound, rocksdb::ReadOptions* read_options) {
  read_options->iterate_upper_bound = upper_bound;
  read_options->auto_prefix_mode = true;
}

RangeFilterCounts GetRangeFilterCounts() { return rocksdb_plugin::CountedRanges(); }

}  // namespace blocksieve
