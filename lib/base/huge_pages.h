#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace blocksieve::internal {

inline constexpr size_t kHugePageBytes = 2 << 20;

/// Asks the system to back the huge pages within [memory, memory + bytes) by such. A wish, which
/// may be refused. Large buffers that are filled at random take half the time with them: fewer
/// faults, and no misses of the address translation.
inline void PreferHugePages(void* memory, size_t bytes) noexcept {
#if defined(MADV_HUGEPAGE)
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const uintptr_t last = (address + bytes) / kHugePageBytes * kHugePageBytes;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): pages are a matter of addresses
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

}  // namespace blocksieve::internal
