#include "integration/rocksdb/maintenance/captured_filters.h"

#include <rocksdb/cache.h>

#include <utility>

#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::rocksdb_plugin {
namespace {

class PassingReader final : public rocksdb::FilterBitsReader {
 public:
  using rocksdb::FilterBitsReader::MayMatch;
  bool MayMatch(const rocksdb::Slice&) override { return true; }
};

class CapturingPolicy final : public rocksdb::FilterPolicy {
 public:
  explicit CapturingPolicy(std::shared_ptr<std::vector<std::string>> contents)
      : contents_(std::move(contents)) {}

  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    contents_->push_back(contents.ToString());
    return new PassingReader();
  }

 private:
  const std::shared_ptr<std::vector<std::string>> contents_;
};

}  // namespace

CapturedFilters::CapturedFilters()
    : contents_(std::make_shared<std::vector<std::string>>()),
      policy_(std::make_shared<CapturingPolicy>(contents_)) {}

std::shared_ptr<rocksdb::TableFactory> TablesWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::move(policy);
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                                  .partition_pinning = rocksdb::PinningTier::kAll,
                                  .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 40, /*num_shard_bits=*/0);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

}  // namespace blocksieve::rocksdb_plugin
