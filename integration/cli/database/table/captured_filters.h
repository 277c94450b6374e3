#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace blocksieve::cli {

/// The filters of a table, caught where RocksDB hands them to a filter policy. The way to them
/// (footer, partitions, checksums, compression) is RocksDB's own, whatever its format version. Not
/// thread-safe.
class CapturedFilters {
 public:
  CapturedFilters();

  /// For the options of a table reader. Its filters deny every key, so that RocksDB, once it has
  /// asked one, reads nothing more.
  std::shared_ptr<const rocksdb::FilterPolicy> policy() const;

  /// What each filter consists of, in the order of loading: that of their keys.
  const std::vector<std::string>& contents() const;

  /// Whether the filter that was asked last would have let the key through, by right. Nothing if
  /// none was asked since the last call.
  std::optional<bool> TakeAnswer();

 private:
  class Policy;
  std::shared_ptr<Policy> policy_;
};

}  // namespace blocksieve::cli
