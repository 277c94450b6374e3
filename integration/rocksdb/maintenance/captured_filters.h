#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// Captures the filters that RocksDB passes to a filter policy when it reads a table. RocksDB
/// itself handles footer, partitions, checksums, compression and format version. Not thread-safe.
class CapturedFilters {
 public:
  CapturedFilters();

  /// The policy for a table reader. Its filters rule out every key, so that RocksDB reads nothing
  /// else after it probed one.
  std::shared_ptr<const rocksdb::FilterPolicy> policy() const { return policy_; }

  /// The bytes of each filter, in the order of loading, which is the key order.
  const std::vector<std::string>& contents() const { return captured_->contents; }

  /// The real answer of the filter that was probed last; nullopt if none was since the last call.
  std::optional<bool> TakeAnswer() { return std::exchange(captured_->answer, std::nullopt); }

  /// What the policy was passed and asked.
  struct Captured {
    std::vector<std::string> contents;
    std::optional<bool> answer;
  };

 private:
  std::shared_ptr<Captured> captured_;  // RocksDB may keep readers longer than the policy
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

/// Tables whose filters are loaded and pinned when the table is opened.
std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace blocksieve::rocksdb_plugin
