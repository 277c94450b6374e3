#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "blocksieve/filter_builder.h"

namespace blocksieve::rocksdb_plugin {

/// Serves optimize_filters_for_memory: sizes filters so that they fill what the allocator hands
/// out, while the FPR stays at the target on average.
///
/// A filter that would leave part of its allocation unused takes that part too, and so falls below
/// the target. What is gained goes to the balance of the policy, from which other filters are made
/// small enough for the next smaller allocation. (Stock RocksDB keeps such a balance as well.) One
/// object serves all builders of a policy; thread-safe.
class MemoryFit {
 public:
  /// `usable_bytes(n)`: what an allocation of n bytes really holds; by default asked of malloc.
  explicit MemoryFit(std::function<size_t(size_t)> usable_bytes = AskMalloc);

  /// The layout for the keys that `builder` holds.
  Layout Fit(const FilterBuilder& builder);

  /// Expected false positives saved so far, per absent probe of each filter, weighted by keys.
  double balance() const { return balance_.load(std::memory_order_relaxed); }

  static size_t AskMalloc(size_t bytes);

 private:
  std::function<size_t(size_t)> usable_bytes_;
  std::atomic<double> balance_{0};
};

}  // namespace blocksieve::rocksdb_plugin
