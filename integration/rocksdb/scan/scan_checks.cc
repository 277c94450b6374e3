#include "integration/rocksdb/scan/scan_context.h"

#include <rocksdb/compaction_filter.h>

#include <string_view>

namespace blocksieve::rocksdb_plugin {

rocksdb::Status CheckScannable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const rocksdb::ReadOptions& read_options) {
  using rocksdb::Status;
  const rocksdb::Options options = db->GetOptions(column_family);
  if (options.inplace_update_support) {
    return Status::NotSupported("blocksieve: a scan needs snapshots, which",
                                "inplace_update_support excludes");
  }
  if (options.unordered_write) {
    return Status::NotSupported("blocksieve: a scan needs snapshots to be immutable, which",
                                "unordered_write excludes");
  }
  if (options.comparator->timestamp_size() != 0) {
    return Status::NotSupported("blocksieve: user-defined timestamps are not supported");
  }
  const rocksdb::ReadOptions defaults;
  const char* taken = nullptr;
  if (read_options.snapshot != nullptr) taken = "snapshot";
  if (read_options.iterate_lower_bound != nullptr) taken = "iterate_lower_bound";
  if (read_options.iterate_upper_bound != nullptr) taken = "iterate_upper_bound";
  if (read_options.table_filter) taken = "table_filter";
  if (read_options.read_tier != defaults.read_tier) taken = "read_tier";
  if (read_options.tailing) taken = "tailing";
  if (read_options.prefix_same_as_start) taken = "prefix_same_as_start";
  if (read_options.timestamp != nullptr) taken = "timestamp";
  if (read_options.iter_start_ts != nullptr) taken = "iter_start_ts";
  if (read_options.value_size_soft_limit != defaults.value_size_soft_limit) {
    taken = "value_size_soft_limit";
  }
  if (taken == nullptr) return Status::OK();
  return Status::InvalidArgument("blocksieve: read_options." + std::string(taken) +
                                 " is set; leave it at its default, as a scan sets it itself" +
                                 (read_options.snapshot == nullptr ? "" : ": options.snapshot"));
}

rocksdb::ReadOptions ScanReadOptions(const rocksdb::ReadOptions& asked) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = asked.fill_cache;
  options.verify_checksums = asked.verify_checksums;
  options.readahead_size = asked.readahead_size;
  options.adaptive_readahead = asked.adaptive_readahead;
  options.pin_data = asked.pin_data;
  options.background_purge_on_iterator_cleanup = asked.background_purge_on_iterator_cleanup;
  options.ignore_range_deletions = asked.ignore_range_deletions;
  options.max_skippable_internal_keys = asked.max_skippable_internal_keys;
  options.deadline = asked.deadline;
  options.io_timeout = asked.io_timeout;
  return options;
}

uint32_t HiddenSuffixBytes(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family) {
  // By names, as RocksDB is often built without type information. A TTL filter on a plain database
  // is one that is opened without TTL and shows the suffix.
  if (db->GetRootDB() == db) return 0;
  const rocksdb::Options options = db->GetOptions(column_family);
  constexpr std::string_view kFilterName = "TtlCompactionFilter";
  constexpr uint32_t kTimeBytes = 4;
  const bool by_filter =
      options.compaction_filter != nullptr && options.compaction_filter->Name() == kFilterName;
  const bool by_factory =
      options.compaction_filter_factory != nullptr &&
      std::string_view(options.compaction_filter_factory->Name()).starts_with(kFilterName);
  return by_filter || by_factory ? kTimeBytes : 0;
}

}  // namespace blocksieve::rocksdb_plugin
