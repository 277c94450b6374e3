// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"

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
  switch (filter.QueryRange(range->begin, range->end)) {
    case RangeAnswer::kNo:
      return RangeOutcome::kNo;
    case RangeAnswer::kBeyond:
      return RangeOutcome::kBeyondPartition;
    case RangeAnswer::kMayMatch:
      break;
  }
  return RangeOutcome::kMayMatch;
}

// The empty key is the prefix of all keys under our extractor, and not in the filter. Batches
// contain it if a file with whole keys is read with whole_key_filtering=false.
template <class Points>
void MatchKeys(const Points& points, int num_keys, rocksdb::Slice** keys, bool* may_match) {
  const auto count = static_cast<size_t>(std::max(num_keys, 0));
  if (!points.MayContain(KeyList(keys), count, may_match)) return;
  for (size_t i = 0; i < count; ++i) may_match[i] |= keys[i]->empty();
}

// A PointFilter with a small state, whose entry points are those of all objects of its class. A
// process has one kernel, and so two kinds of Bloom filters: of up to eight probes, and of more.
template <int kClass>
class SmallPoints {
 public:
  /// Whether the class has the entry points of `points`, which it gets if it has none.
  static bool Takes(const PointFilter& points) {
    if (points.state().size() != sizeof(state_)) return false;
    const ProbeOps* current = ops();
    // An exchange takes the cache line from other threads, which open filters too.
    return current == &points.ops() ||
           (current == nullptr &&
            (ops_.compare_exchange_strong(current, &points.ops()) || current == &points.ops()));
  }

  /// REQUIRES: Takes(points)
  explicit SmallPoints(const PointFilter& points) {
    std::memcpy(state_, points.state().data(), sizeof(state_));
  }

  bool MayContain(std::string_view key) const noexcept { return ops()->may_match_key(state_, key); }
  bool MayContain(KeyList keys, size_t num_keys, bool* may_match) const noexcept {
    return ops()->may_match_keys(state_, keys, num_keys, may_match);
  }

 private:
  static const ProbeOps* ops() { return ops_.load(std::memory_order_relaxed); }

  static inline std::atomic<const ProbeOps*> ops_{nullptr};
  alignas(uint64_t) std::byte state_[16];
};

// A database has one for each open filter, perhaps of every partition, and RocksDB does not charge
// them to its cache, so it holds nothing else: with malloc's header, 32 bytes for Bloom filters, as
// RocksDB's own, and 64 for ribbons. Aligning it to a cache line would cost a quarter of opening a
// filter, which mapped files do for every probe.
template <class Points>
class PointReader final : public rocksdb::FilterBitsReader {
 public:
  explicit PointReader(const PointFilter& points) : points_(points) {}

  bool MayMatch(const rocksdb::Slice& entry) override {
    if (!entry.empty()) [[likely]]
      return points_.MayContain(AsView(entry));
    return MatchEmpty(AsView(entry));
  }

  void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
    MatchKeys(points_, num_keys, keys, may_match);
  }

 private:
  // Out of line, so that other lookups need not save registers.
  [[gnu::noinline]] static bool MatchEmpty(std::string_view prefix) {
    // Other extractors can have empty prefixes too, but record no range.
    if (TakeSeekRange(prefix)) CountRangeQuery(RangeOutcome::kNoRangeFilter);
    return true;
  }

  const Points points_;
};
static_assert(sizeof(PointReader<SmallPoints<0>>) <= 24);
static_assert(sizeof(PointReader<PointFilter>) <= 56);

rocksdb::FilterBitsReader* NewPointReader(const PointFilter& points) {
  if (SmallPoints<0>::Takes(points)) return new PointReader<SmallPoints<0>>(points);
  if (SmallPoints<1>::Takes(points)) return new PointReader<SmallPoints<1>>(points);
  return new PointReader<PointFilter>(points);
}

// Answers range queries, which are probes for the empty prefix of all keys.
class RangeReader final : public rocksdb::FilterBitsReader {
 public:
  explicit RangeReader(Filter filter) : filter_(std::move(filter)) {}

  bool MayMatch(const rocksdb::Slice& entry) override {
    if (!entry.empty()) [[likely]]
      return filter_.MayContain(AsView(entry));
    return MatchEmpty(entry);
  }

  void MayMatch(int num_keys, rocksdb::Slice** keys, bool* may_match) override {
    MatchKeys(filter_.points(), num_keys, keys, may_match);
  }

 private:
  [[gnu::noinline]] bool MatchEmpty(const rocksdb::Slice& entry) const {
    const RangeOutcome outcome = QueryRange(filter_, entry);
    CountRangeQuery(outcome);
    return outcome != RangeOutcome::kNo;
  }

  const Filter filter_;
};

}  // namespace

rocksdb::FilterBitsReader* NewBitsReader(const rocksdb::Slice& contents, bool only_stock) try {
  const ByteView block = AsBytes(AsView(contents));
  // RocksDB reads one to five bytes as the filter of no keys, but a truncated filter looks the
  // same. Blocksieve's filters are never that short, and RocksDB's only if they are damaged.
  if (!only_stock && block.size() <= kZeroTailBytes) return NewPointReader(PointFilter());
  if (only_stock || !HasFilterBlockTail(block)) {
    const rocksdb::FilterPolicy* const stock = StockReader();
    return stock == nullptr ? nullptr : stock->GetFilterBitsReader(contents);
  }
  Filter filter = Filter::Open(block);
  if (filter.answers_ranges()) {
    // ValidateOptions runs the test too, but not for read-only databases, nor for column families
    // that are added later.
    TestRangesOnce();
    return new RangeReader(std::move(filter));
  }
  return NewPointReader(filter.points());
} catch (const std::bad_alloc&) {
  return nullptr;  // RocksDB treats this as "may match"; it is not
                   // exception-safe
}

}  // namespace blocksieve::rocksdb_plugin
