#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <memory>
#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// A policy that captures the filters that RocksDB passes to it when it reads a table. RocksDB
/// itself handles footer, partitions, checksums, compression and format version. Not thread-safe.
class CapturedFilters final : public rocksdb::FilterPolicy {
 public:
  /// The bytes of each filter, in the order of loading, which is the key order.
  const std::vector<std::string>& contents() const { return contents_; }

  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    contents_.push_back(contents.ToString());
    return nullptr;  // RocksDB treats this as "may match"
  }

 private:
  mutable std::vector<std::string> contents_;
};

/// Tables whose filters are loaded and pinned when the table is opened.
std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace blocksieve::rocksdb_plugin
