// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/scan_context.h"

#include <rocksdb/compaction_filter.h>

#include <string_view>
#include <utility>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

rocksdb::Status CheckScannable(const rocksdb::Options& options,
                               const rocksdb::ReadOptions& read_options) {
  using rocksdb::Status;
  if (options.inplace_update_support || options.unordered_write) {
    const std::string option =
        options.unordered_write ? "unordered_write" : "inplace_update_support";
    return Status::NotSupported("blocksieve: option " + option +
                                " is true; allowed: false, as scans need immutable snapshots");
  }
  if (options.comparator->timestamp_size() != 0) {
    return Status::NotSupported("blocksieve: scans do not support user-defined timestamps");
  }
  const rocksdb::ReadOptions defaults;
  const char* changed = nullptr;
  if (read_options.snapshot != nullptr) changed = "snapshot";
  if (read_options.iterate_lower_bound != nullptr) changed = "iterate_lower_bound";
  if (read_options.iterate_upper_bound != nullptr) changed = "iterate_upper_bound";
  if (read_options.table_filter) changed = "table_filter";
  if (read_options.read_tier != defaults.read_tier) changed = "read_tier";
  if (read_options.tailing) changed = "tailing";
  if (read_options.prefix_same_as_start) changed = "prefix_same_as_start";
  if (read_options.timestamp != nullptr) changed = "timestamp";
  if (read_options.iter_start_ts != nullptr) changed = "iter_start_ts";
  if (read_options.value_size_soft_limit != defaults.value_size_soft_limit) {
    changed = "value_size_soft_limit";
  }
  if (changed == nullptr) return Status::OK();
  return Status::InvalidArgument(
      "blocksieve: option read_options." + std::string(changed) +
      " is set; allowed: its default, as a scan sets it itself" +
      (read_options.snapshot == nullptr ? "" : "; use SkipScanOptions::snapshot"));
}

rocksdb::Status FindColumns(const rocksdb::ColumnFamilyOptions& options, ColumnList* columns) {
  if (const auto index = FindBlockIndexOptions(options); index && !index->columns.empty()) {
    *columns = index->columns;
    return rocksdb::Status::OK();
  }
  SkipIndexSettings settings;
  rocksdb::Status status = FindIndexOptions(options, &settings);
  if (status.ok()) *columns = std::move(settings.index.columns);
  return status;
}

rocksdb::ReadOptions ScanReadOptions(const rocksdb::ReadOptions& requested) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.fill_cache = requested.fill_cache;
  options.verify_checksums = requested.verify_checksums;
  options.readahead_size = requested.readahead_size;
  options.adaptive_readahead = requested.adaptive_readahead;
  options.pin_data = requested.pin_data;
  options.background_purge_on_iterator_cleanup = requested.background_purge_on_iterator_cleanup;
  options.ignore_range_deletions = requested.ignore_range_deletions;
  options.max_skippable_internal_keys = requested.max_skippable_internal_keys;
  options.deadline = requested.deadline;
  options.io_timeout = requested.io_timeout;
  return options;
}

uint32_t HiddenSuffixBytes(rocksdb::DB* db, const rocksdb::ColumnFamilyOptions& options) {
  // Compares names, as RocksDB is often built without type information. A plain database with a TTL
  // filter was opened without TTL, and shows the suffix.
  if (db->GetRootDB() == db) return 0;
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
