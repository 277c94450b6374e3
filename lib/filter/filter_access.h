#pragma once

#include <cstddef>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_view.h"

namespace blocksieve::internal {

/// What integrations, tests and benchmarks ask of a Filter beyond its public interface.
struct FilterAccess {
  /// Filter::Open for another kernel than ActiveKernel(). REQUIRES: IsAvailable(kernel)
  static Filter Open(ByteView block, Kernel kernel) noexcept;

  /// Filter::MayContain for keys as engines hold them. Returns false if none of them is empty: an
  /// engine may give the empty key a meaning of its own, and need not look for it.
  static bool MayContain(const Filter& filter, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept {
    return filter.ops_->may_match_keys(filter.view(), keys, num_keys, may_match);
  }
};

}  // namespace blocksieve::internal
