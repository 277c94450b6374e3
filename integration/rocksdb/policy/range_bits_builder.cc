#include "integration/rocksdb/policy/filter_bits.h"

#include <algorithm>
#include <new>
#include <utility>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// What a range filter takes besides its bits per key, about.
constexpr double kFixedBytes = 100;

class RangeBitsBuilder final : public FilterBitsBuilderBase<RangeBitsBuilder> {
 public:
  RangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points, RangeFilterBuilder ranges,
                   bool mark_files, rocksdb::Logger* info_log)
      : points_(std::move(points)),
        ranges_(std::move(ranges)),
        bytes_per_key_(RangeBitsPerKey(ranges_.options().range_fpr) / 8),
        mark_files_(mark_files),
        info_log_(info_log) {}

  // After each key comes its prefix, which is the same for all. That there is one at all says that
  // ranges will be asked. Readers take the empty key for "may match"; those that do not know of
  // ranges may be asked for it if the file begins with it.
  void AddKey(const rocksdb::Slice& key) override {
    if (!key.empty()) {
      points_->AddKey(key);
      ranges_.AddKey({key.data(), key.size()});
    } else if (std::exchange(has_prefix_, true) || !is_first_) {
      return;
    } else {
      points_->AddKey(key);
    }
    is_first_ = false;
  }

  size_t EstimateEntriesAdded() override { return points_->EstimateEntriesAdded(); }

  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf) override {
    rocksdb::Status ignored;
    return Finish(buf, &ignored);
  }

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

  // Partitions have as many keys as without ranges: with half as many in each, a lookup would
  // search a larger index for them, and more of them would say "goes on in the next one".
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
    const Status status = ranges_.Finish(has_prefix ? block : &none);
    const bool has_ranges = has_prefix && status.ok() && ranges_.absent_reason().empty();
    MarkNextFile(mark_files_ && has_ranges);
    if (has_ranges || block->memory == nullptr || std::exchange(reported_, true)) return;
    LogLoudly(info_log_, "no range filter written: ",
              !has_prefix
                  ? "the column family has no prefix extractor"
                  : std::string_view(status.ok() ? ranges_.absent_reason() : status.message()));
  }

  const std::unique_ptr<rocksdb::FilterBitsBuilder> points_;
  RangeFilterBuilder ranges_;
  const double bytes_per_key_;
  const bool mark_files_;
  rocksdb::Logger* const info_log_;
  bool is_first_ = true;  // of the file
  bool has_prefix_ = false;
  bool reported_ = false;  // once per file
};

}  // namespace

rocksdb::FilterBitsBuilder* NewRangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points,
                                                RangeFilterBuilder ranges, bool mark_files,
                                                rocksdb::Logger* info_log) {
  return new (std::nothrow)
      RangeBitsBuilder(std::move(points), std::move(ranges), mark_files, info_log);
}

}  // namespace blocksieve::rocksdb_plugin
