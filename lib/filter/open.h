#pragma once

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"

namespace blocksieve::internal {

/// Filter::Open with a kernel other than ActiveKernel(), for tests. REQUIRES: IsAvailable(kernel)
Filter OpenFilter(ByteView block, Kernel kernel) noexcept;

}  // namespace blocksieve::internal
