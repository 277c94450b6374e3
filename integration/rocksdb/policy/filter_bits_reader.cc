#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/block/footer.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/key_list.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// KeyList reads a list of slices as a list of string views.
static_assert(offsetof(rocksdb::Slice, data_) == 0 &&
              offsetof(rocksdb::Slice, size_) == sizeof(const char*));

std::string_view AsView(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Answers a query for the prefix of all keys, which is empty, with the range of the current seek.
RangeOutcome QueryRange(const Filter& filter, const rocksdb::Slice& prefix) noexcept {
  const std::optional<SeekRange> range = TakeSeekRange(AsView(prefix));
  if (!range) return RangeOutcome::kNoBound;
  if (range->begin.empty()) return RangeOutcome::kEmptyBegin;
  if (!RangesAreTrusted()) return RangeOutcome::kUntrusted;
  switch (internal::FilterAccess::QueryRange(filter, range->begin, range->end)) {
    case RangeAnswer::kNo:
      return RangeOutcome::kNo;
    case RangeAnswer::kBeyond:
      return RangeOutcome::kBeyondPartition;
    case RangeAnswer::kMayMatch:
      break;
  }
  return RangeOutcome::kMayMatch;
}

// Constructed for every probe under allow_mmap_reads, so it holds only the core's reader.
class BitsReader final : public rocksdb::FilterBitsReader {
 public:
  explicit BitsReader(const Filter& filter) : filter_(filter) {}

  const Filter& filter() const { return filter_; }

  // The empty key is the prefix of all keys under our extractor, and not in the filter. Batches
  // contain it if a file with whole keys is read with whole_key_filtering=false.
  bool MayMatch(const rocksdb::Slice& entry) override {
    if (entry.empty()) [[unlikely]] {
      // Other extractors can have empty prefixes too, but record no range.
      if (TakeSeekRange(AsView(entry))) CountRangeQuery(RangeOutcome::kNoRangeFilter);
      return true;
    }
    return filter_.MayContain(AsView(entry));
  }

  void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
    const auto count = static_cast<size_t>(std::max(num_keys, 0));
    if (!internal::FilterAccess::MayContain(filter_, KeyList(keys), count, may_match)) return;
    for (size_t i = 0; i < count; ++i) may_match[i] |= keys[i]->empty();
  }

 private:
  const Filter filter_;
};

// Answers range queries, which are probes for the empty prefix of all keys.
class RangeBitsReader final : public rocksdb::FilterBitsReader {
 public:
  explicit RangeBitsReader(const Filter& filter) : points_(filter) {}

  bool MayMatch(const rocksdb::Slice& entry) override {
    if (entry.empty()) [[unlikely]] {
      const RangeOutcome outcome = QueryRange(points_.filter(), entry);
      CountRangeQuery(outcome);
      return outcome != RangeOutcome::kNo;
    }
    return points_.MayMatch(entry);
  }

  void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
    points_.MayMatch(num_keys, keys, may_match);
  }

 private:
  BitsReader points_;
};

}  // namespace

rocksdb::FilterBitsReader* NewStockBitsReader(const rocksdb::Slice& contents) try {
  const rocksdb::FilterPolicy* const stock = StockReader();
  return stock == nullptr ? nullptr : stock->GetFilterBitsReader(contents);
} catch (const std::bad_alloc&) {
  return nullptr;
}

rocksdb::FilterBitsReader* NewBitsReader(const rocksdb::Slice& contents) try {
  const ByteView block = AsBytes(AsView(contents));
  // RocksDB reads one to five bytes as the filter of no keys, but a truncated filter looks the
  // same. Blocksieve's filters are never that short, and RocksDB's only if they are damaged.
  if (block.size() <= kZeroTailBytes) return new BitsReader(Filter());
  if (!HasFilterBlockTail(block)) return NewStockBitsReader(contents);
  const Filter filter = Filter::Open(block);
  if (internal::FilterAccess::AnswersRanges(filter)) {
    // ValidateOptions runs the test too, but not for read-only databases, nor for column families
    // that are added later.
    TestRangesOnce();
    return new RangeBitsReader(filter);
  }
  return new BitsReader(filter);
} catch (const std::bad_alloc&) {
  return nullptr;  // RocksDB treats this as "may match"; it is not exception-safe
}

}  // namespace blocksieve::rocksdb_plugin
