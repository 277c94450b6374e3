#include "integration/rocksdb/maintenance/captured_filters.h"

#include <rocksdb/cache.h>

#include "integration/rocksdb/policy/filter_bits.h"

namespace blocksieve::rocksdb_plugin {
namespace {

class CapturedReader final : public rocksdb::FilterBitsReader {
 public:
  CapturedReader(const rocksdb::Slice& contents,
                 std::shared_ptr<CapturedFilters::Captured> captured)
      : reader_(NewBitsReader(contents)), captured_(std::move(captured)) {}

  using rocksdb::FilterBitsReader::MayMatch;
  bool MayMatch(const rocksdb::Slice& entry) override {
    captured_->answer = reader_ == nullptr || reader_->MayMatch(entry);
    return false;
  }

 private:
  const std::unique_ptr<rocksdb::FilterBitsReader> reader_;
  const std::shared_ptr<CapturedFilters::Captured> captured_;
};

class CapturingPolicy final : public rocksdb::FilterPolicy {
 public:
  explicit CapturingPolicy(std::shared_ptr<CapturedFilters::Captured> captured)
      : captured_(std::move(captured)) {}

  const char* Name() const override { return "blocksieve.captured_filters"; }
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    captured_->contents.push_back(contents.ToString());
    return new CapturedReader(contents, captured_);
  }

 private:
  const std::shared_ptr<CapturedFilters::Captured> captured_;
};

}  // namespace

CapturedFilters::CapturedFilters()
    : captured_(std::make_shared<Captured>()),
      policy_(std::make_shared<CapturingPolicy>(captured_)) {}

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
