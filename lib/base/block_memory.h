#pragma once

#include <cstddef>
#include <cstdint>

#include "blocksieve/bytes.h"

namespace blocksieve::internal {

inline constexpr size_t kHugePageBytes = 2 << 20;

/// Asks the system to back the huge pages within [memory, memory + bytes) by such. A wish, which
/// may be refused. Large buffers that are filled at random take half the time with them: fewer
/// faults, and no misses of the address translation.
void PreferHugePages(void* memory, size_t bytes) noexcept;

/// Unused bytes that a payload of this size begins with. Large allocations come from the kernel in
/// pages, and glibc puts 16 bytes of its own in front. The reader's buffer is such an allocation,
/// and so the lines of a large filter that begins with 48 unused bytes are aligned to cache lines:
/// without, half of all probes of a 100 MB filter touch one more.
uint32_t PaddingBytes(uint64_t payload_bytes) noexcept;

/// Memory for a block whose byte number `lead` is aligned to a cache line, all zero; no memory if
/// there is none.
OwnedBytes AllocateBlock(uint64_t size, uint64_t lead);

}  // namespace blocksieve::internal
