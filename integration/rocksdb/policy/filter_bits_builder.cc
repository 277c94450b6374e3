// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// At most, in the index of partitions, which has an entry also for those without a filter.
constexpr uint64_t kPartitionEntryBytes = 128;

// One object serves all partitions of a file. RocksDB uses it from one thread at a time, but under
// parallel compression it calls AddKey and Finish from different threads, and newer versions call
// EstimateEntriesAdded meanwhile.
//
// `kSections`: whether filters have sections for ranges, which is tested per file, not per key.
template <bool kSections>
class BitsBuilder final : public FilterBitsBuilderBase<BitsBuilder<kSections>> {
 public:
  BitsBuilder(FilterBuilder builder, BitsBuilderOptions options)
      : builder_(std::move(builder)), options_(std::move(options)) {}
  BitsBuilder(const BitsBuilder&) = delete;
  BitsBuilder& operator=(const BitsBuilder&) = delete;

  // RocksDB 7.0.3 to 11.9 destroys the builder after the file's last filter, and writes the file's
  // properties next, on the same thread. Between two partitions the thread may still write OPTIONS,
  // and a file that is given up has keys without a filter.
  ~BitsBuilder() override {
    if (options_.has_sections) MarkNextFile(answers_ranges_ && builder_.num_keys() == 0);
  }

  void AddKey(const rocksdb::Slice& key) override {
    if constexpr (kSections) {
      if (TakesForPrefix(key)) return;
    }
    builder_.AddKey({key.data(), key.size()});
  }

  size_t EstimateEntriesAdded() override { return static_cast<size_t>(builder_.num_keys()); }

  using FilterBitsBuilderBase<BitsBuilder<kSections>>::Finish;
  rocksdb::Slice Finish(std::unique_ptr<const char[]>* buf, rocksdb::Status* status) override {
    *status = rocksdb::Status::OK();
    Layout layout = FitLayout([&](MemoryFit& fit) { return fit.Fit(builder_); });
    const bool has_prefix = std::exchange(has_prefix_, false);
    const uint64_t num_keys = builder_.num_keys();
    uint64_t reserved = 0;
    bool with_sections = has_prefix;
    if (options_.account && num_keys != 0) {
      reserved = Reserve(&layout, &with_sections);
      if (reserved == 0) return LeaveOut(buf);
    }
    Result<FinishedFilter> filter = builder_.Finish(layout, with_sections);
    if (reserved != 0 && !Settle(reserved, filter.ok() ? filter->block.size : 0))
      return LeaveOut(buf);
    if (options_.charge) options_.charge->AddFinished(filter.ok() ? filter->block.size : 0);
    has_filter_ = filter.ok();
    if (!has_filter_) {
      if (!std::exchange(reported_no_filter_, true)) {
        LogNoFilter(options_.info_log, filter.status().message(), options_.column_family);
      }
      return AlwaysMayMatch(buf);
    }
    if constexpr (kSections) {
      FinishRanges(has_prefix, *filter);
      const uint64_t notable_bytes = std::max<uint64_t>(1 << 20, 128 * num_keys);
      if (filter->range_key_bytes >= notable_bytes) ReportLongKeys();
      if (filter->lacks_prefix_bits) ReportBits();
      if (with_sections != has_prefix) filter->no_ranges_reason = "filter_memory has no room";
    }
    if (!filter->fallback_reason.empty()) ReportFallback(filter->fallback_reason);
    OwnedBytes& block = filter->block;
    const rocksdb::Slice contents(block.memory.get() + block.offset, block.size);
    buf->reset(block.memory.release());
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
    return static_cast<size_t>(MaxBlockKeys(builder_.layout(), bytes));
  }

  size_t CalculateSpace(size_t num_entries) override {
    const Layout layout =
        FitLayout([&](const MemoryFit& fit) { return fit.Choose(builder_, num_entries); });
    return static_cast<size_t>(BlockBytes(layout, num_entries)) + RangeBytes(num_entries);
  }

  double EstimatedFpRate(size_t num_entries, size_t bytes) override {
    if (num_entries == 0) return 0;
    bytes -= std::min(bytes, RangeBytes(num_entries));
    return LayoutForBlockBytes(builder_.options().kind, num_entries, bytes).predicted_fpr;
  }

 private:
  // Takes the room for a filter of this layout, or for the best one that there is room for. 0:
  // there is none.
  uint64_t Reserve(Layout* layout, bool* with_sections) {
    const uint64_t num_keys = builder_.num_keys();
    const uint64_t reader = std::exchange(reader_bytes_, 0);
    const uint64_t others = reader + (builder_.options().is_partition ? kPartitionEntryBytes : 0);
    const uint64_t wanted = BlockBytes(*layout, num_keys, kSections) +
                            (*with_sections ? RangeBytes(num_keys) : 0) + others;
    const FilterKind kind = builder_.options().kind;
    const uint64_t least = BlockBytes(LayoutForBlockBytes(kind, num_keys, 0), num_keys) + others;
    const uint64_t granted = options_.account->Reserve(wanted, std::min(least, wanted));
    if (granted < wanted) {
      *with_sections = false;
      if (granted != 0) *layout = LayoutForBlockBytes(kind, num_keys, granted - others);
    }
    if (granted == 0) reader_bytes_ = reader;
    return granted;
  }

  // Corrects what Reserve took by what was built; false if there is no room for that.
  bool Settle(uint64_t reserved, uint64_t built) {
    if (builder_.options().is_partition) return true;  // the account corrects it at the end
    if (built != 0) built += kReaderBytes;             // which were reserved, too
    if (built > reserved && options_.account->Reserve(built - reserved, built - reserved) == 0) {
      options_.account->Return(reserved);
      return false;
    }
    if (built < reserved) options_.account->Return(reserved - built);
    return true;
  }

  // No filter for lack of room.
  rocksdb::Slice LeaveOut(std::unique_ptr<const char[]>* buf) {
    static_cast<void>(builder_.Finish(Layout{}, false));  // an error, which drops the keys
    if (options_.charge) options_.charge->AddFinished(0);
    if (builder_.options().is_partition) options_.account->Take(kPartitionEntryBytes);
    has_filter_ = false;
    return AlwaysMayMatch(buf);
  }

  template <class ChooseFit>
  Layout FitLayout(const ChooseFit& choose) const {
    return options_.memory_fit == nullptr ? builder_.layout() : choose(*options_.memory_fit);
  }

  // RocksDB adds each key and then its prefix, which is empty for all keys. A prefix shows that the
  // column family has the extractor, so that range queries will come. Readers answer "may match"
  // for the empty key. If it is the first key of the file, it is added as a key too, for readers
  // that know no ranges.
  bool TakesForPrefix(const rocksdb::Slice& key) {
    const bool is_first = std::exchange(is_first_, false);
    if (!key.empty()) return false;
    if (!std::exchange(has_prefix_, true) && is_first) {
      builder_.AddHash(HashKey(""));
    }
    return true;
  }

  // Partitions hold as many keys as without ranges. With half as many, lookups would search a
  // larger partition index, and more ranges would extend beyond their partition.
  size_t RangeBytes(size_t num_entries) const {
    constexpr double kFixedBytes = 100;
    if (options_.range_bits_per_key == 0 || num_entries == 0) return 0;
    return static_cast<size_t>(kFixedBytes +
                               options_.range_bits_per_key / 8 * static_cast<double>(num_entries));
  }

  void FinishRanges(bool has_prefix, const FinishedFilter& filter) {
    // One partition that answers is enough: the others say "may match".
    answers_ranges_ |= options_.mark_files && (filter.has_ranges || filter.has_prefixes);
    if (has_prefix && filter.no_ranges_reason.empty()) return;
    if (std::exchange(reported_no_ranges_, true)) return;
    constexpr std::string_view kNoRangeFilter =
        "no range filter written for a file, so bounded seeks read its blocks; reason: ";
    if (!has_prefix) {
      LogLoudly(options_.info_log, kNoRangeFilter,
                "prefix_extractor is not set; set it to blocksieve.range (Enable does)",
                options_.column_family);
    } else {
      LogQuietly(options_.info_log, kNoRangeFilter, filter.no_ranges_reason,
                 options_.column_family);
    }
  }

  void ReportLongKeys() {
    if (std::exchange(reported_long_keys_, true)) return;
    LogQuietly(
        options_.info_log,
        "range filters of long keys take memory: until a file is written they hold its keys, "
        "or with partition_filters those of a partition, and then as much again; "
        "max_build_bytes limits this",
        {}, options_.column_family, kWarning);
  }

  void ReportBits() {
    if (options_.reported_bits == nullptr || options_.reported_bits->exchange(true)) return;
    LogQuietly(options_.info_log, kNoBitsForPrefixes, {}, options_.column_family, kWarning);
  }

  void ReportFallback(std::string_view reason) {
    if (std::exchange(reported_fallback_, true)) return;
    LogLoudly(options_.info_log,
              "blocked Bloom filter written for a file, larger than a ribbon of the same FPR; "
              "reason: ",
              reason, options_.column_family);
  }

  // RocksDB answers "no" for every key if the block has five bytes or fewer.
  static rocksdb::Slice AlwaysMayMatch(std::unique_ptr<const char[]>* buf) {
    static constexpr char kZeros[kZeroTailBytes + 1] = {};
    buf->reset();
    return {kZeros, sizeof(kZeros)};
  }

  FilterBuilder builder_;
  const BitsBuilderOptions options_;
  uint64_t reader_bytes_ = kReaderBytes;  // until the file has a filter
  bool is_first_ = true;                  // no key of the file was added yet
  bool has_prefix_ = false;
  bool has_filter_ = false;
  bool answers_ranges_ = false;  // some partition does, and RocksDB should query the file for it
  // Reports are once per file, as the same may happen to hundreds of its partitions.
  bool reported_no_filter_ = false;
  bool reported_no_ranges_ = false;
  bool reported_fallback_ = false;
  bool reported_long_keys_ = false;
};

}  // namespace

const char kNoBitsForPrefixes[] =
    "some filters have no prefixes: bits_per_key leaves less than 1 bit for each key and prefix; "
    "raise it, or choose fewer prefixes";

void LogNoFilter(rocksdb::Logger* info_log, std::string_view reason,
                 std::string_view column_family) noexcept {
  LogLoudly(info_log, "no filter written for a file, so lookups read its blocks; reason: ", reason,
            column_family);
}

rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, BitsBuilderOptions options) {
  // Without a builder, RocksDB writes no filter. With one, a file without room for any would still
  // get the index of its partitions.
  if (options.account && builder.options().is_partition &&
      !options.account->HasRoom(kReaderBytes + kPartitionEntryBytes))
    return nullptr;
  rocksdb::Logger* const info_log = options.info_log;  // RocksDB is not exception-safe
  rocksdb::FilterBitsBuilder* bits;
  if (options.has_sections) {
    bits = new (std::nothrow) BitsBuilder<true>(std::move(builder), std::move(options));
  } else {
    bits = new (std::nothrow) BitsBuilder<false>(std::move(builder), std::move(options));
  }
  if (bits == nullptr) LogNoFilter(info_log, "out of memory", {});
  return bits;
}

}  // namespace blocksieve::rocksdb_plugin
