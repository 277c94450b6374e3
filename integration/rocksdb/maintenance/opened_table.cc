// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <array>
#include <utility>

#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/maintenance/file_report.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// A policy that captures the filters that RocksDB passes to it, in the order of loading, which is
// the key order. Not thread-safe.
class FilterCapture final : public rocksdb::FilterPolicy {
 public:
  std::vector<std::string> Take() const { return std::exchange(filters_, {}); }

  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    filters_.push_back(contents.ToString());
    return nullptr;  // RocksDB treats this as "may match"
  }

 private:
  mutable std::vector<std::string> filters_;
};

// Tables whose filters are loaded and pinned when a table is opened, and whose block index is then
// described, unless `index` is null.
std::shared_ptr<rocksdb::TableFactory> NewFactory(
    std::shared_ptr<const rocksdb::FilterPolicy> policy, OpenedBlockIndex* index) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::move(policy);
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                                  .partition_pinning = rocksdb::PinningTier::kAll,
                                  .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 40, /*num_shard_bits=*/0);
  if (index != nullptr) DescribeBlockIndexes(index, &table);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

}  // namespace

rocksdb::Status OpenTable(rocksdb::Options options, const std::string& path, bool reads_filters,
                          OpenedTable* table) {
  const bool is_block_based = options.table_factory->IsInstanceOf("BlockBasedTable");
  const bool may_read = reads_filters && LoadedAbiProblem().empty();
  const size_t begin = may_read ? 0 : 2;
  std::array<rocksdb::Status, 4> errors;
  // With these factories, RocksDB opens no table with a damaged filter or block index.
  for (size_t attempt = begin; attempt < errors.size(); ++attempt) {
    const bool with_filters = attempt < 2;
    const bool with_index = attempt % 2 == 0;
    const auto filters = std::make_shared<const FilterCapture>();
    table->reader = nullptr;  // before its index
    *table = {};
    if (is_block_based) {
      options.table_factory =
          NewFactory(with_filters ? filters : nullptr, with_index ? table->index.get() : nullptr);
    }
    table->reader = std::make_unique<rocksdb::SstFileReader>(options);
    const rocksdb::Status status = table->reader->Open(path);
    if (status.ok()) {
      table->filters = filters->Take();
      if (may_read && !with_filters) table->filter_damage = errors[1].ToString();
      if (with_index) return status;
      table->index->problem = "unreadable block index: " + errors[attempt - 1].ToString() +
                              "; with user_defined_index_factory in its options, RocksDB does not "
                              "read the file (see blocksieve revert)";
      return status;
    }
    if (status.IsNotFound() || status.IsPathNotFound()) return status;
    errors[attempt] = status;
  }
  return errors[begin];  // which says more than later ones
}

}  // namespace blocksieve::rocksdb_plugin
