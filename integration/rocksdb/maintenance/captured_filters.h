#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// Captures the filters that RocksDB passes to a filter policy when it reads a table. RocksDB
/// itself handles footer, partitions, checksums, compression and format version. Not thread-safe.
class CapturedFilters {
 public:
  CapturedFilters();

  /// The policy for a table reader. Its filters pass every key.
  std::shared_ptr<const rocksdb::FilterPolicy> policy() const { return policy_; }

  /// The bytes of each filter, in the order of loading, which is the key order.
  const std::vector<std::string>& contents() const { return *contents_; }

 private:
  std::shared_ptr<std::vector<std::string>> contents_;  // shared with the policy
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

/// Tables whose filters are loaded and pinned when the table is opened.
std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace blocksieve::rocksdb_plugin
