#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "blocksieve/filter.h"

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

}  // namespace blocksieve::rocksdb_plugin
