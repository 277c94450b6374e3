#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/cache_charge.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/levels/filter_budget.h"

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
  /// `usable_bytes(n)` is the size that an allocation of n bytes really has.
  explicit MemoryFit(std::function<size_t(size_t)> usable_bytes = MallocUsableBytes);

  /// The layout for the keys in `builder`, which is about to finish.
  Layout Fit(const FilterBuilder& builder);

  /// The layout that Fit would choose now for `num_keys` keys.
  Layout Choose(const FilterBuilder& builder, uint64_t num_keys) const;

  /// Expected false positives saved so far, per absent probe of each filter, weighted by keys and
  /// divided by its target.
  double balance() const { return balance_.load(std::memory_order_relaxed); }

  static size_t MallocUsableBytes(size_t bytes);

 private:
  std::function<size_t(size_t)> usable_bytes_;
  std::atomic<double> balance_{0};
};

/// Logs why a file gets no filter. `info_log` may be null, `column_family` empty if unknown.
void LogNoFilter(rocksdb::Logger* info_log, std::string_view reason,
                 std::string_view column_family) noexcept;

inline constexpr auto kWarning = rocksdb::InfoLogLevel::WARN_LEVEL;
extern const char kNoBitsForPrefixes[];

/// How the filters of a file are built.
struct BitsBuilderOptions {
  rocksdb::Logger* info_log = nullptr;    ///< May be null.
  std::string column_family = {};         ///< Named in log lines unless it is empty.
  std::shared_ptr<MemoryFit> memory_fit;  ///< Set if filters should fill their allocations.
  std::unique_ptr<CacheCharge> charge;    ///< Set if memory for building is charged to a cache.
  bool has_sections = false;              ///< Whether the builder has sections for ranges.
  double range_bits_per_key = 0;  ///< Approximate size of the range filter; 0 if there is none.
  bool mark_files = false;        ///< See MarkNextFile.
  /// Whether the log has kNoBitsForPrefixes; null: it is not for this file's.
  std::shared_ptr<std::atomic<bool>> reported_bits = nullptr;
  std::optional<SstAccount> account = std::nullopt;  ///< Set if filters have a ceiling.
};

/// A builder for the filters of one file, owned by the caller. Null if memory is short.
rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, BitsBuilderOptions options);

/// A reader of any filter block: blocksieve's, stock RocksDB's, or an unreadable one, which may
/// match everything. Owned by the caller; `contents` must outlive it. Null if memory is short.
/// `only_stock`: stock RocksDB's reader, for which blocksieve's blocks may match everything.
rocksdb::FilterBitsReader* NewBitsReader(const rocksdb::Slice& contents, bool only_stock = false);

/// Whether the self-test has passed: the loaded RocksDB calls extractor and filter in the order
/// that range filters rely on, so that their "no" is right. False before the self-test.
bool RangesAreTrusted() noexcept;

/// Runs the self-test, once in a process: writes a few keys to files in memory, seeks in them, and
/// checks the range queries and the results. Logs a problem to stderr and returns it; empty if
/// there is none. Thread-safe. Needs no other thread and no lock of a database, so it can run
/// wherever a filter is opened.
const std::string& TestRangesOnce();

/// The self-test with this extractor: RangeExtractor::Get(), or a substitute in tests. Returns the
/// problem; empty if there is none.
std::string RangeSelfTestProblem(const std::shared_ptr<const rocksdb::SliceTransform>& extractor);

}  // namespace blocksieve::rocksdb_plugin
