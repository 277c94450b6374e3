#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blocksieve::cli {

/// Captures the filters that RocksDB passes to a filter policy when it reads a table. RocksDB
/// itself handles footer, partitions, checksums, compression and format version. Not thread-safe.
class CapturedFilters {
 public:
  CapturedFilters();

  /// The policy for a table reader. Its filters rule out every key, so that RocksDB reads nothing
  /// else after it probed one.
  std::shared_ptr<const rocksdb::FilterPolicy> policy() const;

  /// The bytes of each filter, in the order of loading, which is the key order.
  const std::vector<std::string>& contents() const;

  /// The real answer of the filter that was probed last; nullopt if none was since the last call.
  std::optional<bool> TakeAnswer();

 private:
  class Policy;
  std::shared_ptr<Policy> policy_;
};

}  // namespace blocksieve::cli
