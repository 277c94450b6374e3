#pragma once

#include <cstddef>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_view.h"

namespace blocksieve::internal {

/// Access to a Filter beyond its public interface, for integrations, tests and benchmarks.
struct FilterAccess {
  /// Filter::Open with a kernel other than ActiveKernel(). REQUIRES: IsAvailable(kernel)
  static Filter Open(ByteView block, Kernel kernel) noexcept;

  /// Filter::MayContain for keys in an engine's own type. False only if no key is empty: an engine
  /// in which the empty key has a special meaning need not search for it then.
  static bool MayContain(const Filter& filter, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept {
    return filter.ops_->may_match_keys(filter.view(), keys, num_keys, may_match);
  }
};

}  // namespace blocksieve::internal
