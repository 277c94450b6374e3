// SPDX-License-Identifier: Apache-2.0
#include "lib/bloom/blocked_bloom.h"

#include <array>
#include <cassert>

#include "lib/base/kernels.h"

namespace blocksieve::internal {

constinit const std::array<PatternRow, kMaxLineProbes> kPatternRows = [] {
  std::array<PatternRow, kMaxLineProbes> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t j = 0; j < kMaxLineProbes; ++j) {
      rows[i].factors[j] = kPatternFactors[j <= i ? j : 0];
      rows[i].ones[j] = 1;
    }
  }
  return rows;
}();

FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept {
  assert(num_probes >= 1 && num_probes <= kMaxLineProbes);
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx512) return kBlockedBloomFillAvx512[num_probes - 1];
#endif
  static_cast<void>(kernel);
  return kBlockedBloomFillScalar[num_probes - 1];
}

const ProbeOps& BlockedBloomOps(Kernel kernel, [[maybe_unused]] uint32_t num_probes) noexcept {
  assert(IsAvailable(kernel));
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return num_probes <= 8 ? kBlockedBloomAvx2By8 : kBlockedBloomAvx2By16;
    case Kernel::kAvx512:
      return num_probes <= 8 ? kBlockedBloomAvx512By8 : kBlockedBloomAvx512By16;
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return kBlockedBloomNeon;
#endif
    default:
      return kBlockedBloomScalar;
  }
}

}  // namespace blocksieve::internal
