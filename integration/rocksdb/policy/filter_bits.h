#pragma once

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/cache_charge.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "lib/range/range_filter.h"

// The adapters between RocksDB's internal filter interface and the core.

namespace blocksieve::rocksdb_plugin {

/// Implements optimize_filters_for_memory: filters fill the memory that the allocator hands out,
/// while their FPR stays at the target on average.
///
/// A filter that would leave part of its allocation unused takes that part too, which brings its
/// FPR below the target. The gain goes to a balance, and other filters draw on the balance to
/// shrink to the next smaller allocation. Stock RocksDB keeps such a balance as well. One object
/// serves all builders of a policy. Thread-safe.
class MemoryFit {
 public:
  /// `usable_bytes(n)` is what an allocation of n bytes really holds; malloc knows by default.
  explicit MemoryFit(std::function<size_t(size_t)> usable_bytes = AskMalloc);

  /// The layout for the keys in `builder`, which is about to finish.
  Layout Fit(const FilterBuilder& builder);

  /// The layout that Fit would choose for so many keys now.
  Layout Choose(const FilterBuilder& builder, uint64_t num_keys) const;

  /// Expected false positives saved so far, per absent probe of each filter, weighted by keys.
  double balance() const { return balance_.load(std::memory_order_relaxed); }

  static size_t AskMalloc(size_t bytes);

 private:
  std::function<size_t(size_t)> usable_bytes_;
  std::atomic<double> balance_{0};
};

/// A builder for the filters of one file, owned by the caller. `info_log` may be null. `memory_fit`
/// is null unless sizes are to follow those of the allocator, `charge` unless what building takes
/// is charged to a cache. Null if there is no memory for it.
rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
                                           std::shared_ptr<MemoryFit> memory_fit,
                                           std::unique_ptr<CacheCharge> charge = nullptr);

/// A reader of any filter block: one of ours, one of stock RocksDB's, or an unreadable one, which
/// may match everything. It is owned by the caller and refers to `contents`, which must outlive it.
/// Null if there is no memory for it.
rocksdb::FilterBitsReader* NewBitsReader(const rocksdb::Slice& contents);

/// Stock RocksDB's reader of any filter block, for which ours may match everything.
rocksdb::FilterBitsReader* NewStockBitsReader(const rocksdb::Slice& contents);

/// A builder that adds a range filter to what `points` builds. Owned by the caller; null if there
/// is no memory for it. `mark_files`: see MarkNextFile.
rocksdb::FilterBitsBuilder* NewRangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points,
                                                RangeFilterBuilder ranges, bool mark_files,
                                                rocksdb::Logger* info_log,
                                                std::unique_ptr<CacheCharge> charge = nullptr);

/// Whether the loaded RocksDB calls extractor and filter as range filters need it, so that a "no"
/// can be relied on. False until the self-test has run and found it so.
bool RangesAreTrusted() noexcept;

/// Runs the self-test, once in a process: writes a few keys to files in memory, seeks in them, and
/// compares what is asked and found. Says on stderr what is wrong, and returns it; empty if nothing
/// is. Thread-safe. It needs no other thread and no lock of a database, so that it can run wherever
/// a filter is opened.
const std::string& TestRangesOnce();

/// The test itself, with RangeExtractor::Get() or one that tests have in its place. Empty if all is
/// as expected.
std::string RangeSelfTestProblem(const std::shared_ptr<const rocksdb::SliceTransform>& extractor);

}  // namespace blocksieve::rocksdb_plugin
