#include <algorithm>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/block/filter_info.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// One object serves all partitions of a file. RocksDB uses it from one thread at a time, but under
// parallel compression it calls AddKey and Finish from different threads, and newer versions call
// EstimateEntriesAdded meanwhile.
class BitsBuilder final : public FilterBitsBuilderBase<BitsBuilder> {
 public:
  BitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
              std::shared_ptr<MemoryFit> memory_fit, std::unique_ptr<CacheCharge> charge,
              std::string column_family)
      : builder_(std::move(builder)),
        info_log_(info_log),
        column_family_(std::move(column_family)),
        memory_fit_(std::move(memory_fit)),
        charge_(std::move(charge)) {}

  void AddKey(const rocksdb::Slice& key) override {
    builder_.AddKey({key.data(), key.size()});
    if (charge_ == nullptr) return;
    charge_->Grow(finished_bytes_ + builder_.num_keys() * sizeof(uint64_t));
  }

  size_t EstimateEntriesAdded() override { return static_cast<size_t>(builder_.num_keys()); }

  using FilterBitsBuilderBase::Finish;
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf, rocksdb::Status* status) override {
    *status = rocksdb::Status::OK();
    Layout layout = memory_fit_ == nullptr ? builder_.layout() : memory_fit_->Fit(builder_);
    if (charge_ != nullptr) ChargeBuilding(&layout);
    Result<OwnedBytes> block = builder_.Finish(layout);
    if (charge_ != nullptr) charge_->Set(finished_bytes_ += block.ok() ? block->size : 0);
    has_filter_ = block.ok();
    if (!has_filter_) {
      if (!std::exchange(reported_no_filter_, true)) {
        LogNoFilter(info_log_, block.status().message(), column_family_);
      }
      return AlwaysMayMatch(buf);
    }
    if (!builder_.fallback_reason().empty()) {
      ReportFallback(builder_.fallback_reason());
    }
    const rocksdb::Slice contents(block->memory.get() + block->offset, block->size);
    buf->reset(block->memory.release());
    return contents;
  }

  rocksdb::Status MaybePostVerify(const rocksdb::Slice& filter_content) override try {
    if (!has_filter_ || !builder_.options().keep_hashes) return rocksdb::Status::OK();
    const Status status =
        builder_.VerifyBuilt(AsBytes({filter_content.data(), filter_content.size()}));
    return status.ok() ? rocksdb::Status::OK() : rocksdb::Status::Corruption(status.message());
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::Corruption();  // there is no memory for a message
  }

  size_t ApproximateNumEntries(size_t bytes) override {
    return static_cast<size_t>(builder_.MaxKeys(bytes));
  }

  size_t CalculateSpace(size_t num_entries) override {
    const Layout layout =
        memory_fit_ == nullptr ? builder_.layout() : memory_fit_->Choose(builder_, num_entries);
    return static_cast<size_t>(builder_.BlockBytes(layout, num_entries));
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return num_entries == 0 ? 0 : builder_.LayoutForBlockBytes(num_entries, bytes).predicted_fpr;
  }

 private:
  void ReportFallback(std::string_view reason) {
    if (std::exchange(reported_fallback_, true)) return;
    LogLoudly(info_log_,
              "blocked Bloom filter written for a file, larger than a ribbon of the same FPR; "
              "reason: ",
              reason, column_family_);
  }

  // Like RocksDB's builders: if a cache with a strict limit has no room for building a ribbon, a
  // Bloom filter is built, whether or not the cache has room for that.
  void ChargeBuilding(Layout* layout) {
    if (charge_->Set(finished_bytes_ + builder_.BuildBytes(*layout))) return;
    const Result<Layout> bloom =
        ChooseLayout(FilterKind::kBlockedBloom, std::max(layout->predicted_fpr, kMinTargetFpr));
    if (layout->kind == FilterKind::kBlockedBloom || !bloom.ok()) return;
    ReportFallback(
        "the block cache has no room for building a ribbon; raise its capacity, or take filter "
        "construction out of cache_usage_options");
    *layout = *bloom;
    charge_->Set(finished_bytes_ + builder_.BuildBytes(*layout));
  }

  // RocksDB answers "no" for every key if the block has five bytes or fewer.
  static rocksdb::Slice AlwaysMayMatch(std::unique_ptr<const char[]>* buf) {
    static constexpr char kZeros[kZeroTailBytes + 1] = {};
    buf->reset();
    return {kZeros, sizeof(kZeros)};
  }

  FilterBuilder builder_;
  rocksdb::Logger* const info_log_;
  const std::string column_family_;
  const std::shared_ptr<MemoryFit> memory_fit_;
  const std::unique_ptr<CacheCharge> charge_;  // null: none
  uint64_t finished_bytes_ = 0;  // all partitions: RocksDB holds them until it writes them
  bool has_filter_ = false;
  // Reports are once per file, as the same may happen to hundreds of its partitions.
  bool reported_no_filter_ = false;
  bool reported_fallback_ = false;
};

// Approximate size of a range filter without its bits per key.
constexpr double kFixedBytes = 100;

class RangeBitsBuilder final : public FilterBitsBuilderBase<RangeBitsBuilder> {
 public:
  RangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points, RangeFilterBuilder ranges,
                   bool mark_files, rocksdb::Logger* info_log, std::unique_ptr<CacheCharge> charge,
                   std::string column_family)
      : points_(std::move(points)),
        ranges_(std::move(ranges)),
        bytes_per_key_(RangeBitsPerKey(ranges_.options().range_fpr) / 8),
        mark_files_(mark_files),
        info_log_(info_log),
        column_family_(std::move(column_family)),
        charge_(std::move(charge)) {}

  // RocksDB adds each key and then its prefix, which is empty for all keys. A prefix shows that the
  // column family has the extractor, so that range queries will come. Readers answer "may match"
  // for the empty key. If it is the first key of the file, it is added as a key too, for readers
  // that know no ranges.
  void AddKey(const rocksdb::Slice& key) override {
    if (!key.empty()) {
      points_->AddKey(key);
      ranges_.AddKey({key.data(), key.size()});
      if (charge_ != nullptr) charge_->Grow(finished_bytes_ + ranges_.memory_bytes());
    } else if (std::exchange(has_prefix_, true) || !is_first_) {
      return;
    } else {
      points_->AddKey(key);
    }
    is_first_ = false;
  }

  size_t EstimateEntriesAdded() override { return points_->EstimateEntriesAdded(); }

  using FilterBitsBuilderBase::Finish;
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf, rocksdb::Status* status) override {
    const bool has_prefix = std::exchange(has_prefix_, false);
    const rocksdb::Slice points = points_->Finish(buf, status);
    OwnedBytes block;
    if (*buf != nullptr) {
      block.offset = static_cast<size_t>(points.data() - buf->get());
      block.size = points.size();
      block.memory.reset(const_cast<char*>(buf->release()));
    }
    AddRanges(has_prefix && block.memory != nullptr, &block);
    if (block.memory == nullptr) return points;
    const rocksdb::Slice contents(block.memory.get() + block.offset, block.size);
    buf->reset(block.memory.release());
    return contents;
  }

  rocksdb::Status MaybePostVerify(const rocksdb::Slice& filter_content) override {
    return points_->MaybePostVerify(filter_content);
  }

  // Partitions hold as many keys as without ranges. With half as many, lookups would search a
  // larger partition index, and more ranges would extend beyond their partition.
  size_t ApproximateNumEntries(size_t bytes) override {
    return points_->ApproximateNumEntries(bytes);
  }

  size_t CalculateSpace(size_t num_entries) override {
    return points_->CalculateSpace(num_entries) + RangeBytes(num_entries);
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    return points_->EstimatedFpRate(num_entries, bytes - std::min(bytes, RangeBytes(num_entries)));
  }

 private:
  size_t RangeBytes(size_t num_entries) const {
    if (num_entries == 0) return 0;
    return static_cast<size_t>(kFixedBytes + bytes_per_key_ * static_cast<double>(num_entries));
  }

  void AddRanges(bool has_prefix, OwnedBytes* block) {
    OwnedBytes none;
    const size_t points_bytes = block->size;
    if (charge_ != nullptr) charge_->Set(finished_bytes_ + 2 * ranges_.memory_bytes());
    const Status status = ranges_.Finish(has_prefix ? block : &none);
    if (charge_ != nullptr) charge_->Set(finished_bytes_ += block->size - points_bytes);
    const bool has_ranges = has_prefix && status.ok() && ranges_.absent_reason().empty();
    MarkNextFile(mark_files_ && has_ranges);
    if (has_ranges || block->memory == nullptr || std::exchange(reported_, true)) return;
    LogNoRangeFilter(
        info_log_,
        !has_prefix ? "prefix_extractor is not set; set it to blocksieve.range (EnableRangeFilter)"
                    : std::string_view(status.ok() ? ranges_.absent_reason() : status.message()),
        column_family_);
  }

  const std::unique_ptr<rocksdb::FilterBitsBuilder> points_;
  RangeFilterBuilder ranges_;
  const double bytes_per_key_;
  const bool mark_files_;
  rocksdb::Logger* const info_log_;
  const std::string column_family_;
  const std::unique_ptr<CacheCharge> charge_;
  uint64_t finished_bytes_ = 0;
  bool is_first_ = true;  // no key of the file was added yet
  bool has_prefix_ = false;
  bool reported_ = false;  // once per file
};

}  // namespace

void LogNoFilter(rocksdb::Logger* info_log, std::string_view reason,
                 std::string_view column_family) noexcept {
  LogLoudly(info_log, "no filter written for a file, so lookups read its blocks; reason: ", reason,
            column_family);
}

void LogNoRangeFilter(rocksdb::Logger* info_log, std::string_view reason,
                      std::string_view column_family) noexcept {
  LogLoudly(info_log,
            "no range filter written for a file, so bounded seeks read its blocks; reason: ",
            reason, column_family);
}

rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
                                           std::shared_ptr<MemoryFit> memory_fit,
                                           std::unique_ptr<CacheCharge> charge,
                                           std::string column_family) {
  // RocksDB is not exception-safe; without a builder it writes no filter.
  auto* const bits =
      new (std::nothrow) BitsBuilder(std::move(builder), info_log, std::move(memory_fit),
                                     std::move(charge), std::move(column_family));
  if (bits == nullptr) LogNoFilter(info_log, "out of memory", {});
  return bits;
}

rocksdb::FilterBitsBuilder* NewRangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points,
                                                RangeFilterBuilder ranges, bool mark_files,
                                                rocksdb::Logger* info_log,
                                                std::unique_ptr<CacheCharge> charge,
                                                std::string column_family) {
  return new (std::nothrow) RangeBitsBuilder(std::move(points), std::move(ranges), mark_files,
                                             info_log, std::move(charge), std::move(column_family));
}

}  // namespace blocksieve::rocksdb_plugin
