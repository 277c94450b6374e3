// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/opened_table.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>

#include <utility>

#include "integration/rocksdb/compat/filter_bits_abi.h"

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
  rocksdb::Status first;  // says more than later ones
  std::string filter_damage;
  for (const bool with_filters : {true, false}) {
    if (with_filters && (!reads_filters || !LoadedAbiProblem().empty())) continue;
    std::string index_damage;
    // RocksDB opens no table with a damaged block index.
    for (const bool with_index : {true, false}) {
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
        table->filter_damage = filter_damage;
        if (!index_damage.empty()) table->index->problem = index_damage;
        return status;
      }
      if (first.ok()) first = status;
      if (status.IsNotFound() || status.IsPathNotFound()) return status;
      index_damage = "unreadable block index: " + status.ToString() +
                     "; with user_defined_index_factory in its options, RocksDB does not read the "
                     "file (see blocksieve revert)";
    }
    filter_damage = first.ToString();
  }
  return first;
}

}  // namespace blocksieve::rocksdb_plugin
